package transfer

// InPages has moves copy so many rows at once until the function that it returns is called.
func InPages(of int) (restore func()) {
	former := pageOf
	pageOf = of
	return func() { pageOf = former }
}
