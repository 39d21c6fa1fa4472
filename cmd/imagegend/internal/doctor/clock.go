package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// apart is how far two clocks may differ. The clock of a network file system is another machine's.
const apart = 5 * time.Minute

// setClock is what to do about a clock that is wrong.
const setClock = "set the clock right, and have it kept right by a service such as chrony or systemd-timesyncd"

// Clock compares the clock with three things: what the store knows of it, which includes the newest entry; the time
// that the file system gives to a new file; and the time of the database's last change. The first that is wrong is
// reported. s is nil if nobody can be asked.
func Clock(ctx context.Context, dir string, now time.Time, s admin.Caller) Finding {
	f := ok("clock", "%s UTC", now.UTC().Format(time.DateTime))
	if s != nil {
		switch c, err := admin.GetClock.Do(ctx, s, admin.None{}); {
		case err != nil:
			return f.says("%v", err).fails("run imagegend clock show")
		case c.InDoubt:
			return f.says("in doubt: the clock %s", c.Leap).
				but("set it right; if it is right now, run imagegend clock confirm")
		}
	}
	if d := fileTime(dir, now).Sub(now).Round(time.Second); d.Abs() > apart {
		return f.says("it is %s the file system of %s", against(d), dir).but(setClock + ", here and where the disk is")
	}
	// A database from the future was written while the clock was ahead, or is a copy from a machine whose clock is.
	if info, err := os.Stat(filepath.Join(dir, databaseFile)); err == nil && info.ModTime().Sub(now) > apart {
		return f.says("it is %v behind the time at which the database was written",
			info.ModTime().Sub(now).Round(time.Second)).but(setClock)
	}
	return f
}

// fileTime returns the time that a new file in dir gets, or otherwise if none can be made; another check gives the
// reason for that. If the process is killed meanwhile, the next start of the service removes the file by its name.
func fileTime(dir string, otherwise time.Time) time.Time {
	f, err := os.CreateTemp(dir, ".new-doctor-")
	if err != nil {
		return otherwise
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		return info.ModTime()
	}
	return otherwise
}

// against words how the clock relates to one that is d ahead of it.
func against(d time.Duration) string {
	if d < 0 {
		return fmt.Sprintf("%v ahead of", -d)
	}
	return fmt.Sprintf("%v behind", d)
}
