"""Predictions: the learner guesses, says how sure they are, and only then sees torch's answer.

with predict.numbers("s1", "What will x.grad hold?", {"x.grad": 2}) as guess:
    ...
    print(x.grad)
    guess.compare(x.grad)
"""

from .lookback import summary
from .prediction import Prediction, choice, numbers, order, question, true_false

__all__ = ["Prediction", "choice", "numbers", "order", "question", "summary", "true_false"]
