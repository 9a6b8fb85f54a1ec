"""Pictures that make autograd visible: plain data first (graph, layout, recording), drawing and stepping on top."""
