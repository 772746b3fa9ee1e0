"""GPU kernels, in Triton, for the parts of a stacked model that matrix products leave over.

One kernel per stage, each reading its inputs once. A batch lies in one row of `size` tokens per
model (`rasp.models.training.batch_shapes`), so attention works slot by slot with no padding to
speak of: one program holds a whole slot's square of weights, which is why slots are at most 128
long. Sums over tokens are made in two steps, without atomics, so that a run gives the same bits
again.
"""

# mypy: ignore-errors
# A kernel is written in Triton's language, which only looks like Python: its types are the GPU's.

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gather_batch(
    order, step, examples_at, tokens_of, targets_of, lengths_of, slot_of, position_of, bos,
    tokens, targets, weights, lengths,
    batches, batch, size, longest, BLOCK: tl.constexpr,
):  # fmt: skip
    """Take each model's next batch from its examples, and weigh its tokens."""
    model = tl.program_id(0)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = place < size
    slot = tl.load(slot_of + place, inside, 0)
    position = tl.load(position_of + place, inside, 0)
    now = tl.load(step + model)
    example = tl.load(order + (model * batches + now) * batch + slot, inside, 0)
    example = example.to(tl.int64) + tl.load(examples_at + model)
    length = tl.load(lengths_of + example, inside, 1)
    target = tl.load(targets_of + example * longest + position, inside & (position < length), -1)
    token = tl.load(tokens_of + example * longest + position, inside & (position < length), 0)
    counted = tl.maximum(length - tl.load(bos + model), 1).to(tl.float32)
    to = model * size + place
    tl.store(tokens + to, token.to(tl.int32), inside)
    tl.store(targets + to, target.to(tl.int32), inside)
    tl.store(weights + to, tl.where(target == -1, 0.0, 1.0 / (counted * batch)), inside)
    tl.store(lengths + model * batch + slot, length, inside & (position == 0))


@triton.jit
def embed(tokens, embedding, positions, position_of, stream, size, stride,
          WIDTH: tl.constexpr, ROWS: tl.constexpr):  # fmt: skip
    """The first stream: a token's embedding plus its position's encoding."""
    model = tl.program_id(0)
    place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    inside = (place < size)[:, None]
    columns = tl.arange(0, WIDTH)[None, :]
    token = tl.load(tokens + model * size + place, place < size, 0)[:, None]
    position = tl.load(position_of + place, place < size, 0)[:, None]
    found = tl.load(embedding + model * stride + token * WIDTH + columns, inside)
    found += tl.load(positions + position * WIDTH + columns, inside)
    tl.store(stream + (model * size + place)[:, None] * WIDTH + columns, found, inside)


@triton.jit
def _rows(base, bias, rows, columns, length, STRIDE: tl.constexpr):
    """Some columns of a slot's queries, keys or values, with their bias; zeros past its end."""
    inside = (rows < length)[:, None]
    found = tl.load(base + rows[:, None] * STRIDE + columns[None, :], inside, 0.0)
    return tl.where(inside, found + tl.load(bias + columns)[None, :], 0.0)


@triton.jit
def attend_forward(
    attended, bias, mixed, cells, lengths, starts, slots, cell_starts,
    first, count, batch, size, all_cells, bias_stride, scale,
    HEADS: tl.constexpr, HEAD: tl.constexpr, TILE: tl.constexpr, CHUNK: tl.constexpr,
    KEEP: tl.constexpr,
):  # fmt: skip
    """Queries, keys and values in, their mixture out; the weights too, if they are to be kept."""
    WIDTH: tl.constexpr = HEADS * HEAD
    model = tl.program_id(0) // count
    slot = first + tl.program_id(0) % count
    head = tl.program_id(1)
    length = tl.load(lengths + model * batch + slot)
    room = tl.load(slots + slot)
    token = model * size + tl.load(starts + slot)
    base = attended + token * 3 * WIDTH + head * HEAD
    bias += model * bias_stride + head * HEAD
    rows = tl.arange(0, TILE)
    scores = tl.zeros([TILE, TILE], tl.float32)
    for chunk in range(0, HEAD, CHUNK):
        columns = chunk + tl.arange(0, CHUNK)
        queries = _rows(base, bias, rows, columns, length, 3 * WIDTH)
        keys = _rows(base + WIDTH, bias + WIDTH, rows, columns, length, 3 * WIDTH)
        scores = tl.dot(queries, tl.trans(keys), scores)
    scores = tl.where(rows[None, :] < length, scores * scale, float("-inf"))
    weights = tl.exp(scores - tl.max(scores, 1)[:, None])
    weights = weights / tl.sum(weights, 1)[:, None]
    if KEEP:
        square = cells + (model * HEADS + head) * all_cells + tl.load(cell_starts + slot)
        held = (rows < room)[:, None] & (rows < room)[None, :]
        tl.store(square + rows[:, None] * room + rows[None, :], weights, held)
    for chunk in range(0, HEAD, CHUNK):
        columns = chunk + tl.arange(0, CHUNK)
        values = _rows(base + 2 * WIDTH, bias + 2 * WIDTH, rows, columns, length, 3 * WIDTH)
        found = tl.where((rows < length)[:, None], tl.dot(weights, values), 0.0)
        to = mixed + (token + rows)[:, None] * WIDTH + head * HEAD + columns[None, :]
        tl.store(to, found, (rows < room)[:, None])


@triton.jit
def _store_with_sum(d_base, d_bias, rows, columns, room, found, STRIDE: tl.constexpr):
    """Write a gradient for some columns of a slot, and its sum over the slot."""
    tl.store(d_base + rows[:, None] * STRIDE + columns[None, :], found, (rows < room)[:, None])
    tl.store(d_bias + columns, tl.sum(found, 0))


@triton.jit
def attend_backward(
    attended, bias, cells, d_mixed, d_cells, d_attended, d_bias,
    lengths, starts, slots, cell_starts,
    first, count, batch, size, all_cells, bias_stride, scale,
    HEADS: tl.constexpr, HEAD: tl.constexpr, TILE: tl.constexpr, CHUNK: tl.constexpr,
    SUPERVISED: tl.constexpr,
):  # fmt: skip
    """Gradients of queries, keys and values, from the mixture's (and the weights' own, if any)."""
    WIDTH: tl.constexpr = HEADS * HEAD
    model = tl.program_id(0) // count
    slot = first + tl.program_id(0) % count
    head = tl.program_id(1)
    length = tl.load(lengths + model * batch + slot)
    room = tl.load(slots + slot)
    token = model * size + tl.load(starts + slot)
    base = attended + token * 3 * WIDTH + head * HEAD
    bias += model * bias_stride + head * HEAD
    d_base = d_attended + token * 3 * WIDTH + head * HEAD
    d_bias += (model * batch + slot) * 3 * WIDTH + head * HEAD
    rows = tl.arange(0, TILE)
    mixture = d_mixed + (token + rows)[:, None] * WIDTH + head * HEAD
    square = (model * HEADS + head) * all_cells + tl.load(cell_starts + slot)
    square += rows[:, None] * room + rows[None, :]
    held = (rows < room)[:, None] & (rows < room)[None, :]
    weights = tl.load(cells + square, held, 0.0)
    d_weights = tl.zeros([TILE, TILE], tl.float32)
    for chunk in range(0, HEAD, CHUNK):
        columns = chunk + tl.arange(0, CHUNK)
        d_out = tl.load(mixture + columns[None, :], (rows < length)[:, None], 0.0)
        values = _rows(base + 2 * WIDTH, bias + 2 * WIDTH, rows, columns, length, 3 * WIDTH)
        d_weights = tl.dot(d_out, tl.trans(values), d_weights)
    if SUPERVISED:
        d_weights += tl.load(d_cells + square, held, 0.0)
    total = tl.sum(weights * d_weights, 1)
    d_scores = weights * (d_weights - total[:, None]) * scale
    for chunk in range(0, HEAD, CHUNK):
        columns = chunk + tl.arange(0, CHUNK)
        keys = _rows(base + WIDTH, bias + WIDTH, rows, columns, length, 3 * WIDTH)
        _store_with_sum(d_base, d_bias, rows, columns, room, tl.dot(d_scores, keys), 3 * WIDTH)
        queries = _rows(base, bias, rows, columns, length, 3 * WIDTH)
        d_keys = tl.dot(tl.trans(d_scores), queries)
        _store_with_sum(d_base + WIDTH, d_bias + WIDTH, rows, columns, room, d_keys, 3 * WIDTH)
        d_out = tl.load(mixture + columns[None, :], (rows < length)[:, None], 0.0)
        d_values = tl.dot(tl.trans(weights), d_out)
        _store_with_sum(
            d_base + 2 * WIDTH, d_bias + 2 * WIDTH, rows, columns, room, d_values, 3 * WIDTH
        )


@triton.jit
def add_norm_forward(stream, total, norm, output, moments, size, norm_stride, epsilon,
                     WIDTH: tl.constexpr, ROWS: tl.constexpr):  # fmt: skip
    """Add the stream and a bias onto `total`, in place, and normalise that."""
    model = tl.program_id(0)
    place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    inside = (place < size)[:, None]
    at = (model * size + place)[:, None] * WIDTH + columns
    norm += model * norm_stride + columns
    added = tl.load(stream + at, inside, 0.0) + tl.load(total + at, inside, 0.0) + tl.load(norm)
    tl.store(total + at, added, inside)
    mean = tl.sum(added, 1) / WIDTH
    centred = added - mean[:, None]
    inverse = 1 / tl.sqrt(tl.sum(centred * centred, 1) / WIDTH + epsilon)
    found = centred * inverse[:, None] * tl.load(norm + WIDTH) + tl.load(norm + 2 * WIDTH)
    tl.store(output + at, found, inside)
    tl.store(moments + (model * size + place) * 2, mean, place < size)
    tl.store(moments + (model * size + place) * 2 + 1, inverse, place < size)


@triton.jit
def add_norm_backward(d_output, total, moments, norm, d_total, partial, size, norm_stride,
                      WIDTH: tl.constexpr, ROWS: tl.constexpr, STRETCH: tl.constexpr):  # fmt: skip
    """The gradient of a sum that was normalised, and partial sums for bias, gain and shift."""
    model = tl.program_id(0)
    columns = tl.arange(0, WIDTH)[None, :]
    gain = tl.load(norm + model * norm_stride + WIDTH + columns)
    d_bias = tl.zeros([WIDTH], tl.float32)
    d_gain = tl.zeros([WIDTH], tl.float32)
    d_shift = tl.zeros([WIDTH], tl.float32)
    for start in range(0, STRETCH, ROWS):
        place = tl.program_id(1) * STRETCH + start + tl.arange(0, ROWS)
        inside = (place < size)[:, None]
        at = (model * size + place)[:, None] * WIDTH + columns
        mean = tl.load(moments + (model * size + place) * 2, place < size, 0.0)[:, None]
        inverse = tl.load(moments + (model * size + place) * 2 + 1, place < size, 0.0)[:, None]
        normal = (tl.load(total + at, inside, 0.0) - mean) * inverse
        d_out = tl.load(d_output + at, inside, 0.0)
        scaled = d_out * gain
        along = (
            tl.sum(scaled, 1)[:, None] / WIDTH
            + normal * tl.sum(scaled * normal, 1)[:, None] / WIDTH
        )
        found = (scaled - along) * inverse
        tl.store(d_total + at, found, inside)
        d_bias += tl.sum(found, 0)
        d_gain += tl.sum(d_out * normal, 0)
        d_shift += tl.sum(d_out, 0)
    to = partial + (model * tl.num_programs(1) + tl.program_id(1)) * 3 * WIDTH + tl.arange(0, WIDTH)
    tl.store(to, d_bias)
    tl.store(to + WIDTH, d_gain)
    tl.store(to + 2 * WIDTH, d_shift)


@triton.jit
def relu_forward(hidden, bias, size, bias_stride, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Add the bias and cut off below 0, in place."""
    model = tl.program_id(0)
    place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, WIDTH)[None, :]
    inside = (place < size)[:, None]
    at = (model * size + place)[:, None] * WIDTH + columns
    found = tl.load(hidden + at, inside, 0.0) + tl.load(bias + model * bias_stride + columns)
    tl.store(hidden + at, tl.maximum(found, 0.0), inside)


@triton.jit
def relu_backward(hidden, d_hidden, partial, size,
                  WIDTH: tl.constexpr, ROWS: tl.constexpr, STRETCH: tl.constexpr):  # fmt: skip
    """Cut the gradient off where the output was, in place, and partial sums for the bias."""
    model = tl.program_id(0)
    columns = tl.arange(0, WIDTH)[None, :]
    d_bias = tl.zeros([WIDTH], tl.float32)
    for start in range(0, STRETCH, ROWS):
        place = tl.program_id(1) * STRETCH + start + tl.arange(0, ROWS)
        inside = (place < size)[:, None]
        at = (model * size + place)[:, None] * WIDTH + columns
        found = tl.load(d_hidden + at, inside, 0.0)
        found = tl.where(tl.load(hidden + at, inside, 0.0) > 0.0, found, 0.0)
        tl.store(d_hidden + at, found, inside)
        d_bias += tl.sum(found, 0)
    to = (model * tl.num_programs(1) + tl.program_id(1)) * WIDTH + tl.arange(0, WIDTH)
    tl.store(partial + to, d_bias)


@triton.jit
def classify(logits, bias, targets, weights, counts, loss, hits, size, classes, bias_stride,
             COLUMNS: tl.constexpr, ROWS: tl.constexpr):  # fmt: skip
    """Logits in; their gradient in their place, each token's weighted loss, and whether it hit."""
    model = tl.program_id(0)
    place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)[None, :]
    real = columns < tl.load(counts + model)
    inside = (place < size)[:, None] & (columns < classes)
    at = (model * size + place)[:, None] * classes + columns
    found = tl.load(logits + at, inside, 0.0)
    found += tl.load(bias + model * bias_stride + columns, columns < classes, 0.0)
    found = tl.where(real, found, float("-inf"))
    target = tl.load(targets + model * size + place, place < size, -1)
    weight = tl.load(weights + model * size + place, place < size, 0.0)
    found -= tl.max(found, 1)[:, None]
    powers = tl.exp(found)
    total = tl.sum(powers, 1)
    is_target = columns == target[:, None]
    of_target = tl.sum(tl.where(is_target, found, 0.0), 1)
    gradient = (powers / total[:, None] - tl.where(is_target, 1.0, 0.0)) * weight[:, None]
    tl.store(logits + at, gradient, inside)
    tl.store(loss + model * size + place, (tl.log(total) - of_target) * weight, place < size)
    hit = (of_target == 0.0) & (target >= 0)
    tl.store(hits + model * size + place, tl.where(hit, 1.0, 0.0), place < size)


@triton.jit
def adam(rows, gradient, first, second, rates, step, row, BLOCK: tl.constexpr):
    """One step of Adam for every model, each with its own learning rate."""
    model = tl.program_id(0)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = model * row + place
    inside = place < row
    count = tl.load(step + model).to(tl.float32)
    slope = tl.load(gradient + at, inside, 0.0)
    mean = 0.9 * tl.load(first + at, inside, 0.0) + 0.1 * slope
    square = 0.999 * tl.load(second + at, inside, 0.0) + 0.001 * slope * slope
    tl.store(first + at, mean, inside)
    tl.store(second + at, square, inside)
    change = mean / (1 - tl.exp(count * -0.10536051565782628))  # ln 0.9
    size = tl.sqrt(square / (1 - tl.exp(count * -0.0010005003335835344)))  # ln 0.999
    now = tl.load(rows + at, inside, 0.0) - tl.load(rates + model) * change / (size + 1e-8)
    tl.store(rows + at, now, inside)
