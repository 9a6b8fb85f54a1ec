"""Pictures that make autograd visible: plain data (graph, layout, recording) first, drawing and stepping on top."""
