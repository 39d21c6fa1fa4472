package doctor

import "time"

// released is when this program was not there yet: a clock that is behind it is wrong.
var released = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)

// TimeOfDay tells whether the time can be right, and whether something keeps it right.
func TimeOfDay(now time.Time) Finding {
	f := ok("time of day", "%s", now.UTC().Format(time.DateTime)+" UTC")
	switch kept, known := synchronized(); {
	case now.Before(released):
		f.Detail += ", which is before this program was written"
		return f.fails(setClock)
	case known && !kept:
		f.Detail += "; nothing tells the system that it is right"
		return f.but("have it kept right by a service such as chrony or systemd-timesyncd, on the host if this is a container")
	case kept:
		f.Detail += ", kept right by a time service"
	}
	return f
}
