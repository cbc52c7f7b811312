"""Whether search finds what people mean: judged queries over a catalogue made for them."""
