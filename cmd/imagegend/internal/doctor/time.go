package doctor

import "time"

// released is a moment before this program existed. A clock that is behind it is certainly wrong.
var released = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)

// TimeOfDay checks whether the time can be right at all, and whether a time service keeps it right. Clock, in
// contrast, compares the clock with others.
func TimeOfDay(now time.Time) Finding {
	f := ok("time of day", "%s", now.UTC().Format(time.DateTime)+" UTC")
	switch kept, known := synchronized(); {
	case now.Before(released):
		f.Detail += ", which is before this program was written"
		return f.fails(setClock)
	// In a container only the host can do something about it.
	case known && !kept:
		f.Detail += "; no time service keeps the system's clock right"
		return f.but("have it kept right by a service such as chrony or systemd-timesyncd, on the host if this is a container")
	case kept:
		f.Detail += ", kept right by a time service"
	}
	return f
}
