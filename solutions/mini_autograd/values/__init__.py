"""What is no idea of autograd's: dtypes, shapes, and how tensors print."""
