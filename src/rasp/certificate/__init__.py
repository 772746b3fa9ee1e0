"""WEIGHTS + PROGRAM + CLAIMS -> VERDICT: a checker that trusts no compiler.

claims (what a compiler says) → values (what s-ops and variables can be; picks and aggregates say
why) → stream (what the arrays make of that) → attention, feed_forward, readout → check.
"""

from rasp.certificate.check import Verdict as Verdict
from rasp.certificate.check import check as check
from rasp.certificate.claims import Claims as Claims
from rasp.certificate.claims import Inputs as Inputs
from rasp.certificate.claims import Refused as Refused
from rasp.certificate.precision import PRECISIONS as PRECISIONS
from rasp.certificate.precision import Precision as Precision
from rasp.certificate.readout import Readout as Readout
