"""The first dialect of NKI (0.1), as a stand-in: see neuronxcc.nki."""
