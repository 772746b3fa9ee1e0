"""WEIGHTS + PROGRAM + CLAIMS -> VERDICT: a checker that trusts no compiler.

Trusted are numpy, the program graph and the operator table, and what you read here; nothing of the
compiler is, nor anything that claims say. In which order to read:

    claims.py      what a compiler says: names, never numbers
    check.py       the theorem, and the walk through the model that proves it
    program/       what variables and s-ops can be; nothing here looks at weights
    weights/       what the arrays make of that, and how far float32 can be off
"""

from rasp.certificate.check import Verdict as Verdict
from rasp.certificate.check import check as check
from rasp.certificate.claims import Claims as Claims
from rasp.certificate.claims import Inputs as Inputs
from rasp.certificate.claims import Refused as Refused
from rasp.certificate.weights.precision import PRECISIONS as PRECISIONS
from rasp.certificate.weights.precision import Precision as Precision
from rasp.certificate.weights.readout import Readout as Readout
