package adminserver

// Bind opens a socket, before its mode is set.
var Bind = bind

// StatusOf is the status and the code of an answer with an error.
var StatusOf = statusOf

// Names are the names of the calls that a Local carries out.
func Names(l *Local) (names []string) {
	for _, c := range l.calls() {
		names = append(names, c.name)
	}
	return names
}
