"""WEIGHTS + PROGRAM + CLAIMS -> VERDICT: a checker that trusts no compiler.

In which order to read, and what is proved there. Every rule has its argument beside it:

    claims.py      nothing: what a compiler says, as names and never as numbers
    check.py       the theorem, with a proof in one paragraph, and the walk through the model
    program/       what variables and s-ops can be; its first words say what each file proves
    weights/       what the arrays make of that, and how far float32 can be off; so do its own

Assumed, and proved nowhere: that numpy computes in float64 as it says; that the graph and the
operator table (rasp.language.graph, rasp.language.operators) are what the program means; that the
forward pass is that of docs/model-format.md, and that its sums and products in float32 are rounded
to a nearest number, in whatever order they are added; that the powers of e and the quotients of a
softmax are right to one part in 2^21. Nothing of the compiler is assumed, nor anything that claims
say.
"""

from rasp.models.certificate.check import Verdict as Verdict
from rasp.models.certificate.check import check as check
from rasp.models.certificate.claims import Claims as Claims
from rasp.models.certificate.claims import Inputs as Inputs
from rasp.models.certificate.claims import Refused as Refused
from rasp.models.certificate.program.tables import Array as Array
from rasp.models.certificate.weights.arrays import FeedForwardWeights as FeedForwardWeights
from rasp.models.certificate.weights.arrays import HeadWeights as HeadWeights
from rasp.models.certificate.weights.arrays import ReadoutWeights as ReadoutWeights
from rasp.models.certificate.weights.arrays import Weights as Weights
from rasp.models.certificate.weights.precision import PRECISIONS as PRECISIONS
from rasp.models.certificate.weights.precision import Precision as Precision
from rasp.models.certificate.weights.readout import Readout as Readout
from rasp.models.certificate.weights.rounding import at_most as at_most
