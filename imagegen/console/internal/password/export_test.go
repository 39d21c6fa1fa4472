package password

// Occupy takes every processor, and with waiting every place in the queue too, until free is called.
func (h *Hasher) Occupy(waiting bool) (free func()) {
	freeSlots, freePlaces := fill(h.slots), func() {}
	if waiting {
		freePlaces = fill(h.places)
	}
	return func() {
		freeSlots()
		freePlaces()
	}
}

func fill(c chan struct{}) (free func()) {
	n := cap(c) - len(c)
	for range n {
		c <- struct{}{}
	}
	return func() {
		for range n {
			<-c
		}
	}
}
