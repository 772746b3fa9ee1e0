"""What is said of a head in; refused unless it holds whatever the arrays are."""

from __future__ import annotations

from rasp.models.certificate.claims import HeadClaim, Refused
from rasp.models.certificate.program.outputs import check_share
from rasp.models.certificate.program.values import ProvedValues


def check_head(values: ProvedValues, claim: HeadClaim) -> None:
    """Check what is said of a head without its arrays: so that what it puts out, whatever puts it
    out, is what its domain lists. This holds for spare heads, too.
    """
    picks = values.picks
    if claim.mode not in ("mean", "sum", "share"):
        raise Refused("an unknown kind of head")
    if claim.weight < 0:
        raise Refused("nothing weighs less than nothing")
    if claim.never_empty and not picks.never_empty(claim.selectors):
        raise Refused("a head may pick nothing")
    if claim.mode == "share" and (not claim.never_empty or claim.best):
        raise Refused("a head that gives shares may pick nothing")
    if claim.mode == "sum" and claim.best is not None:
        raise Refused("a sum over the best picks")
    moved = {place for weights in claim.channels for place in weights}
    if not moved <= {*range(len(claim.outputs))}:  # -1 would be one of them again
        raise Refused("a head moves an output that it does not have")
    for output in claim.outputs:
        if claim.mode != "mean" and (not output.is_plain or output.default):
            raise Refused("a sum adds numbers, and is 0 where nothing is picked")
        if claim.mode == "share":
            check_share(values, claim, output)
        is_odd = output.carrier is not None or claim.mode != "mean"
        if output.is_block and (is_odd or not picks.picks_one_value(claim, output)):
            raise Refused("what a head moves as a block is not one value")


def check_sees(values: ProvedValues, claim: HeadClaim, has_sink: bool) -> None:
    """A model gives a head what it needs: keys that it sees, and a sink if it may pick nothing."""
    if values.inputs.causal and not values.picks.is_causal(claim.selectors):
        raise Refused("a head may pick keys after the query, which a causal model cannot see")
    if claim.mode == "share" and has_sink:
        raise Refused("a head gives shares beside a sink")
    if not has_sink and (claim.mode == "sum" or not claim.never_empty):
        raise Refused("a head needs a sink, and there is none")
