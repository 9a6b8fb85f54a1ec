"""Checks, pictures and widgets for a hands-on course on torch.autograd."""
