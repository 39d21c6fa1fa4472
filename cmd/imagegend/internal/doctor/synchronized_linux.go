package doctor

import "golang.org/x/sys/unix"

const unsynchronized = 0x40 // STA_UNSYNC of adjtimex

// synchronized reports whether the kernel's clock is kept right by a time service, which is what the flag STA_UNSYNC
// says. known is false where the kernel does not tell, as in some containers.
func synchronized() (kept, known bool) {
	var state unix.Timex // with modes 0 the call only reads, and needs no privilege
	if _, err := unix.Adjtimex(&state); err != nil {
		return false, false
	}
	return state.Status&unsynchronized == 0, true
}
