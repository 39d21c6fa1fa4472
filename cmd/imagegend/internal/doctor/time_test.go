package doctor_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/doctor"
)

// A machine without a battery for its clock begins in 1970.
func TestTimeOfDay(t *testing.T) {
	is := is.New(t)
	f := doctor.TimeOfDay(time.Unix(0, 0))
	is.Equal(f.State, doctor.Fail)
	is.Equal(f.Detail, "1970-01-01 00:00:00 UTC, which is before this program was written")
	is.True(f.Remedy != "")
	is.True(doctor.TimeOfDay(time.Now()).State != doctor.Fail)
}

// The clock of the machine is held against that of the disk, which may be another machine's.
func TestClockOfTheFileSystem(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	for d, want := range map[time.Duration]string{10 * time.Minute: "it is 10m0s ahead of the file system of " + dir,
		-time.Hour: "it is 1h0m0s behind the file system of " + dir} {
		f := doctor.Clock(t.Context(), dir, time.Now().Add(d), nil)
		is.Equal(f.State, doctor.Warn)
		is.Equal(f.Detail, want)
	}
	is.Equal(doctor.Clock(t.Context(), dir, time.Now(), nil).State, doctor.OK)
	is.Equal(doctor.Clock(t.Context(), filepath.Join(dir, "none"), time.Now(), nil).State, doctor.OK)
	left, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(left), 0)
}
