package limiter

// Len is the most that is remembered of anything.
func (l *Limiter) Len() int {
	return max(len(l.names.entries), l.names.recent.Len(), len(l.addresses.entries), l.addresses.recent.Len(),
		len(l.familiar.entries), l.familiar.recent.Len(), len(l.entered.entries), l.entered.recent.Len(),
		len(l.arrivals.entries), l.arrivals.recent.Len())
}
