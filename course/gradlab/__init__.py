"""Checks, pictures and widgets for a hands-on course on torch.autograd."""

from .checking import CheckFailed, check, summary

__all__ = ["CheckFailed", "check", "summary"]
