"""A program in, everything the weights must do out: heads, feed-forwards, dimensions.

Demands are found from the last layer to the first: what the outputs read, then what the last
feed-forward reads to make that, then what its heads' queries, keys and values read, and so on
down to the embedding. Then the dimensions are placed, from the first reader to the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rasp.architecture.schedule import Schedule, schedule
from rasp.atoms import Atom, show
from rasp.compiler.analysis.joint_states import Values
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    IndexVariable,
    NodeVariable,
    PlannedHead,
    SumVariable,
    TokenVariable,
    Variable,
    codes_of,
    is_spread,
    s_op_of,
)
from rasp.compiler.planning.attention import HeadPlan, plan_head
from rasp.compiler.planning.blocks import Blocks, Deadlines, NeedsBlock
from rasp.compiler.planning.dimensions import Demand, Layout, lay_out
from rasp.compiler.planning.features import Features, Group
from rasp.compiler.planning.heads import HeadAnalysis
from rasp.compiler.planning.mixed_radix import Ridge, choose_ridge
from rasp.compiler.planning.wide_outputs import (
    WideCode,
    read_inputs,
    wide_code,
    width_of_kind,
)
from rasp.compiler.refusals import Refusal, Refusals
from rasp.compiler.settings import Settings
from rasp.errors import RaspUnsupportedError
from rasp.graph import Aggregate, Node, Program, Selector, SOp, in_order, users
from rasp.graph.normal import Form, normal_forms

MOST_CELLS = 900_000
MOST_NUMBERED = 4096
LARGEST_WHOLE = 1 << 53
"""Up to this, a float holds every whole number."""
READOUT = "read-out "
ROUNDED = "rounded"
"""Where this is to be done with care, the residual stream rounds what heads add; and with more of
it, means that are compared with a constant are sums as well."""
CONDITIONS = "conditions"
"""Where this is to be done with care, each condition of an `and` or `or` is worked out alone."""


@dataclass(frozen=True, eq=False)
class OutputPlan:
    """One output: what to read, and which atom each number stands for."""

    name: str
    node: SOp
    linear: Linear
    atoms: list[tuple[Fraction, Atom]]
    digits: tuple[Linear, ...] = ()
    """Where the number to be read is put together only as it is read: what it is made of."""
    is_made: bool = False
    """Whether a feed-forward makes the number: it may number the atoms, or be left out."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything the weights must do."""

    settings: Settings
    schedule: Schedule
    analysis: HeadAnalysis
    heads: list[list[HeadPlan]]
    """The heads of each layer, from layer 1."""
    groups: list[list[tuple[Group, Ridge]]]
    """The groups of each feed-forward, from the one before layer 1."""
    outputs: list[OutputPlan]
    layout: Layout
    uses_sink: bool
    care: Mapping[str, int]
    """The comparisons made with more care than usual."""

    @property
    def layers(self) -> int:
        return len(self.heads)


def make_plan(
    outputs: Mapping[str, Node],
    settings: Settings,
    program: Program,
    care: Mapping[str, int] | None = None,
) -> Plan:
    """Plan a program, or raise one error with every reason why it cannot be compiled."""
    nodes = list(outputs.values())
    refusals = Refusals(program, nodes)
    _check_s_ops(nodes, refusals)
    placed, most = schedule(nodes), settings.extra_feed_forwards
    blocks = Blocks(chooses_first=most > 0, avoids_counts=most > 0)
    while True:
        try:
            return _plan(outputs, settings, Refusals(program, nodes), placed, blocks, care or {})
        except NeedsBlock as needs:
            if blocks.count < most:
                blocks = blocks.after(needs.after)
            elif blocks.chooses_first:
                blocks = Blocks(avoids_counts=True)
            else:
                needs.refuse(Refusals(program, nodes), most)
        except RaspUnsupportedError:
            if blocks.avoids_counts or not blocks.has_counts:
                raise
            blocks = Blocks(avoids_counts=True)


def _plan(
    outputs: Mapping[str, Node], settings: Settings, refusals: Refusals, placed: Schedule,
    blocks: Blocks, care: Mapping[str, int],
) -> Plan:  # fmt: skip
    """Plan with some feed-forward blocks without heads, or raise that one more is needed."""
    analysis = _analyse(list(outputs.values()), settings, refusals, placed, blocks, care)
    layers = blocks.total(placed)
    features = Features(analysis, layers)
    end = 2 * layers + 1
    demands: list[Demand] = []
    planned = [_output(name, node, features, end, refusals, care) for name, node in outputs.items()]
    refusals.raise_all()
    found = [each for each in planned if each is not None]
    for each in found:
        for linear in each.digits or (each.linear,):
            demands.append(Demand(end, linear, each.name + refusals.line(each.node)))
    heads, groups = _descend(features, analysis, layers, demands, refusals, care)
    uses_sink = settings.sink and any(
        plan.head.mode == "sum" or plan.head.may_be_empty for layer in heads for plan in layer
    )
    layout = lay_out(demands)
    _check_work(groups, layout)
    used = replace(settings, extra_feed_forwards=blocks.count)
    return Plan(used, placed, analysis, heads, groups, found, layout, uses_sink,
                dict(care))  # fmt: skip


def _check_work(groups: list[list[tuple[Group, Ridge]]], layout: Layout) -> None:
    """Refuse feed-forwards whose tables are too large to be worked out."""
    users = layout.written_by_groups()
    for group, ridge in (each for layer in groups for each in layer):
        cells = users[group] * len(ridge.points)
        if cells > MOST_CELLS:
            raise RaspUnsupportedError(
                f"the feed-forward of layer {group.layer} would have to make "
                f"{users[group]} numbers from {len(ridge.points)} different inputs",
                hint='use a smaller vocabulary or length, or `heads="split"`',
            )


def _check_s_ops(nodes: Sequence[Node], refusals: Refusals) -> None:
    for node in nodes:
        if not isinstance(node, SOp):
            refusals.add(node, Refusal("it is no s-op", "compile an s-op: `aggregate` uses it"))
    refusals.raise_all()


def analyse(
    nodes: Sequence[Node], settings: Settings, refusals: Refusals
) -> tuple[HeadAnalysis, Schedule]:
    """What every s-op of a program can hold, and its schedule; nothing waits for a later layer."""
    _check_s_ops(nodes, refusals)
    placed = schedule(nodes)
    return _analyse(nodes, settings, refusals, placed, Blocks(waits=False), {}), placed


def _analyse(
    nodes: Sequence[Node], settings: Settings, refusals: Refusals, placed: Schedule,
    blocks: Blocks, care: Mapping[str, int],
) -> HeadAnalysis:  # fmt: skip
    promised = [] if settings.where is None else [settings.where]
    siblings: dict[Aggregate, Sequence[Aggregate]] = {}
    layer_of: dict[Aggregate, int] = {}
    for known in [*map(schedule, promised), placed]:  # heads of a promise alone need no weights
        siblings |= {aggregate: head.aggregates for layer in known.layer_list
                     for head in layer.heads for aggregate in head.aggregates}  # fmt: skip
        layer_of |= {node: blocks.place(layer) for node, layer in known.layer_of.items()
                     if isinstance(node, Aggregate)}  # fmt: skip
    every = [*nodes, *promised]
    analysis = HeadAnalysis(every, settings, refusals, layer_of, siblings, users(every))
    analysis.counts_first = bool(care.get(CONDITIONS))
    analysis.rounds, analysis.sums_compared = care.get(ROUNDED, 0) > 0, care.get(ROUNDED, 0) > 1
    analysis.chooses_first, analysis.avoids_counts = blocks.chooses_first, blocks.avoids_counts
    if blocks.waits:
        most = settings.extra_feed_forwards
        analysis.deadlines = Deadlines.of(nodes, promised, placed, blocks, most)
    analysis.alike = _alike(every, layer_of)
    for where in promised:
        try:
            analysis.promise(where)
        except Refusal as refusal:
            refusals.add(where, refusal)
    refusals.raise_all()
    for node in in_order(nodes):
        if isinstance(node, SOp):
            try:
                analysis.of(node)
            except Refusal:
                continue
    blocks.has_counts = analysis.has_counts
    if refusals.tainted.intersection(nodes):
        refusals.raise_all()
    refusals.reasons.clear()  # no output needs what cannot be worked out
    return analysis


def _alike(nodes: Sequence[Node], layer_of: Mapping[Aggregate, int]) -> dict[Selector, Selector]:
    """Map each selector to the first to be ready of those with its normal form.

    The schedule counts them as one head, so the model has one for them.
    """
    ready: dict[Node, int] = {}
    selectors: list[Selector] = []
    for node in in_order(nodes):
        ready[node] = max((ready[needed] for needed in node.needs), default=0)
        if isinstance(node, Aggregate):
            ready[node] = layer_of[node]
            selectors.append(node.selector)
    forms = normal_forms(selectors)
    first: dict[Form, Selector] = {}
    for selector in sorted(selectors, key=ready.__getitem__):
        first.setdefault(forms[selector], selector)
    return {selector: first[forms[selector]] for selector in selectors}


def _output(
    name: str, node: Node, features: Features, time: int, refusals: Refusals,
    care: Mapping[str, int],
) -> OutputPlan | None:  # fmt: skip
    assert isinstance(node, SOp)
    values = features.analysis.of(node)
    if values.is_wide:
        return _wide_output(name, node, features, time, refusals)
    if not values.atoms:
        why = next(iter(features.analysis.failures.values()), "it has no value")
        refusals.add(node, Refusal(f"the program fails on every input: {why}", "fix it first"))
        return None
    counted = _threshold(values)
    codes = codes_of(values.atoms)
    is_made = values.linear is None
    numbered = (
        is_made
        and len(codes) <= MOST_NUMBERED
        and sorted(codes.values()) != list(range(len(codes)))
    )
    careful = care.get(readout_key(name), 0) if is_made and counted is None else 0
    if careful > numbered:
        try:
            return _read_directly(name, node, read_inputs(values, features, time))
        except Refusal:
            pass
    is_named = len(codes) <= MOST_NUMBERED and is_spread(codes.values())
    if is_named or (numbered and careful):  # places in order of size: small whole numbers
        places = {code: Fraction(place) for place, code in enumerate(sorted(set(codes.values())))}
        codes = {atom: places[code] for atom, code in codes.items()}
    known: dict[Fraction, Atom] = {}
    for atom in values.atoms:
        code = codes[atom]
        if _differs_as_float(atom, known.get(code)):
            refusals.add(node, Refusal(
                f"it may be {show(atom)} as an int and as a float, which are not the same number",
                "work with smaller numbers",
            ))  # fmt: skip
            return None
        if code not in known or width_of_kind(atom) > width_of_kind(known[code]):
            known[code] = atom
    try:
        if counted is not None:
            return OutputPlan(name, node, features.code(values.inputs[0], time), counted)
        linear = features.of_values(values, codes.__getitem__, time)
    except Refusal as refusal:
        refusals.add(node, refusal)
        return None
    return OutputPlan(name, node, linear, sorted(known.items()), (), is_made)


def _wide_output(
    name: str, node: SOp, features: Features, time: int, refusals: Refusals
) -> OutputPlan | None:
    try:
        return _read_directly(name, node, wide_code(node, features, time))
    except Refusal as refusal:
        refusals.add(node, refusal)
        return None


def _read_directly(name: str, node: SOp, code: WideCode) -> OutputPlan:
    return OutputPlan(name, node, code.linear, code.atoms, tuple(code.digits))


def checked_nodes(plan: Plan) -> list[tuple[str, Node]]:
    """The blocks that the checker looks at, in their order, and an s-op that each is about."""
    found: list[tuple[str, Node | None]] = []
    for layer, groups in enumerate(plan.groups):
        for number, head in enumerate(plan.heads[layer - 1] if layer else [], 1):
            found.append((f"layer {layer}, head {number}", head.head.outputs[0].known_by))
        found += [(f"feed-forward {layer}", s_op_of(group.inputs)) for group, _ in groups]
    found += [(readout_key(output.name), output.node) for output in plan.outputs]
    return [(name, node) for name, node in found if node is not None]


def readout_key(name: str) -> str:
    """A name for a read-out that is the same in every attempt to compile."""
    return READOUT + name


def _threshold(values: Values) -> list[tuple[Fraction, Atom]] | None:
    """The codes to tell apart where an output only asks whether a count has got so far.

    Whatever lies beyond them is nearest to the right one all the same.
    """
    if len(values.inputs) != 1 or not isinstance(values.inputs[0], CountVariable):
        return None
    steps = [place for place in range(1, len(values.outcomes))
             if values.outcomes[place - 1] != values.outcomes[place]]  # fmt: skip
    if len(steps) != 1:
        return None
    codes = [code for _, code in values.inputs[0].states]
    found = [(codes[place], values.outcomes[place]) for place in (steps[0] - 1, steps[0])]
    return [(code, atom) for code, atom in found if atom is not None]


def _differs_as_float(atom: Atom, other: Atom | None) -> bool:
    """Whether an atom is also there in another kind, and a float does not hold it."""
    if other is None or type(atom) is type(other) or isinstance(atom, str):
        return False
    return abs(Fraction(atom)) > LARGEST_WHOLE


def _descend(
    features: Features, analysis: HeadAnalysis, layers: int, demands: list[Demand],
    refusals: Refusals, care: Mapping[str, int],
) -> tuple[list[list[HeadPlan]], list[list[tuple[Group, Ridge]]]]:  # fmt: skip
    heads: list[list[HeadPlan]] = []
    groups: list[list[tuple[Group, Ridge]]] = []
    for layer in range(layers, -1, -1):
        ridges = []
        for group in features.groups_of(layer):
            ridge = choose_ridge(features, group, 2 * layer)
            ridges.append((group, ridge))
            at_once = layer > 0 and analysis.rounds and not group.is_noisy
            demands.append(Demand(2 * layer, ridge.z, _group_label(group, refusals), at_once))
        groups.append(ridges)
        if layer:
            heads.append(_heads_of(features, analysis, layer, demands, refusals, care))
    refusals.raise_all()
    return heads[::-1], groups[::-1]


def _heads_of(
    features: Features, analysis: HeadAnalysis, layer: int, demands: list[Demand],
    refusals: Refusals, care: Mapping[str, int],
) -> list[HeadPlan]:  # fmt: skip
    found = []
    for head in [each for each in analysis.heads if each.layer == layer]:
        wanted = [demand.linear for demand in demands]
        if not any(output in each.parts for each in wanted for output in head.outputs):
            continue
        try:
            plan = plan_head(features, analysis, head, wanted)
        except Refusal as refusal:
            blamed = head.outputs[0].known_by
            assert blamed is not None
            refusals.add(blamed, refusal)
            continue
        found.append(plan)
        time, text = 2 * layer - 1, head.selector_text + _line_of(head, refusals)
        for query, key in plan.products:
            demands.append(Demand(time, query, f"query of {text}"))
            demands.append(Demand(time, key, f"key of {text}"))
        demands.append(Demand(time, plan.sink, f"sink of {text}"))
        demands += [Demand(time, value, f"value of {text}") for value in plan.values]
    return found


def _line_of(head: PlannedHead, refusals: Refusals) -> str:
    """Where the selector of a head comes from."""
    served = head.outputs[0].known_by
    return refusals.line(served.selector) if isinstance(served, Aggregate) else ""


def _group_label(group: Group, refusals: Refusals) -> str:
    """What a feed-forward's group reads, in words."""
    words = dict.fromkeys(_words(variable, refusals) for variable in group.inputs)
    return f"input of feed-forward {group.layer}: {', '.join(words)}"


def _words(variable: Variable, refusals: Refusals) -> str:
    match variable:
        case TokenVariable():
            return "tokens"
        case IndexVariable():
            return "indices"
        case NodeVariable(node=node) | HeadOutput(known_by=SOp() as node):
            return refusals.text(node) + refusals.line(node)
        case SumVariable():
            outs = list(variable.linear.of(HeadOutput))
            return " and ".join(dict.fromkeys(_words(output, refusals) for output in outs))
    return "a count of conditions"
