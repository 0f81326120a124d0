"""The same questions through a transformation: a compiler, an exporter, a tracer, a batcher."""
