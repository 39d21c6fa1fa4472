package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
)

// stand is a clock under test with a wall clock that can be set.
type stand struct {
	*clock.Clock
	is     *is.I
	ahead  time.Duration // of the wall clock
	asleep time.Duration
}

func (s *stand) wall() time.Time { return time.Now().Add(s.ahead).UTC().Round(0) }

func inBubble(t *testing.T, test func(s *stand)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stand{is: is.New(t)}
		s.restart(clock.Mark{}, time.Time{})
		test(s)
	})
}

// restart goes on with a clock of another process.
func (s *stand) restart(m clock.Mark, written time.Time) (gap time.Duration) {
	s.Clock = clock.New(s.wall)
	clock.Sleeping(s.Clock, func() time.Duration { return s.asleep })
	m.Written = written
	return s.Resume(m)
}

// trusted checks that the wall clock is believed.
func (s *stand) trusted() {
	r := s.Read()
	s.is.Helper()
	s.is.Equal(r.Now, r.Wall)
	s.is.True(!r.Doubt)
}

// doubted checks that the wall clock is not, and what the time is instead, seen from the true one.
func (s *stand) doubted(leap, judged time.Duration) {
	s.is.Helper()
	r := s.Read()
	s.is.True(r.Doubt)
	s.is.Equal(r.Leap, leap)
	s.is.Equal(r.Wall, s.wall())
	s.is.Equal(r.Now.Sub(time.Now().UTC().Round(0)), judged)
}

func TestNothingToCompareWith(t *testing.T) {
	inBubble(t, func(s *stand) {
		s.ahead = 5 * 365 * 24 * time.Hour
		s.trusted()
	})
}

func TestLeapAhead(t *testing.T) {
	inBubble(t, func(s *stand) {
		s.trusted()
		time.Sleep(60 * time.Hour) // without a reading, which is not a leap
		s.trusted()
		s.ahead = time.Hour
		s.trusted()
		s.ahead += time.Hour + 1
		s.doubted(time.Hour+1, time.Hour)
		time.Sleep(time.Hour)
		s.doubted(time.Hour+1, time.Hour)
		s.ahead-- // put right, or nearly so
		s.trusted()
	})
}

func TestLeapBack(t *testing.T) {
	inBubble(t, func(s *stand) {
		s.trusted()
		s.ahead = -25 * time.Hour
		s.doubted(-25*time.Hour, 0)
		time.Sleep(30 * time.Hour)
		s.doubted(-25*time.Hour, 0)
		s.ahead = 0
		s.trusted()
	})
}

// A clock that is a little behind is waited for, and time does not stand still meanwhile.
func TestClockThatIsSlowedDown(t *testing.T) {
	inBubble(t, func(s *stand) {
		s.trusted()
		before := s.Now()
		s.ahead = -5 * time.Minute
		s.is.Equal(s.Now(), before)
		time.Sleep(4 * time.Minute)
		s.is.Equal(s.Now(), before.Add(2*time.Minute))
		time.Sleep(4 * time.Minute)
		s.is.Equal(s.Now(), before.Add(4*time.Minute))
		time.Sleep(2 * time.Minute)
		s.is.Equal(s.Now(), before.Add(5*time.Minute))
		s.trusted()
	})
}

// A time that was written in doubt shows that the clock was wrong, though it agrees with the time again.
func TestBehindWhatWasWritten(t *testing.T) {
	inBubble(t, func(s *stand) {
		s.trusted()
		s.ahead = 25 * time.Hour
		s.doubted(25*time.Hour, 0)
		s.Wrote(s.wall())
		written := s.wall()
		s.ahead = 0
		s.doubted(-25*time.Hour, 0)
		mark := clock.Mark{}.Saw(s.Read())
		s.restart(mark, written)
		s.doubted(-25*time.Hour, 0)
		s.Confirm(1)
		s.trusted()
		s.is.Equal(s.Read().Epoch, uint64(1))
	})
}

func TestConfirmation(t *testing.T) {
	for _, ahead := range []time.Duration{25 * time.Hour, -25 * time.Hour} {
		inBubble(t, func(s *stand) {
			s.trusted()
			s.ahead = ahead
			s.doubted(ahead, 0)
			steady := s.Read().Steady
			s.Confirm(1)
			s.trusted()
			s.is.Equal(s.Read().Steady, steady) // delays and leases take as long as they take
			time.Sleep(time.Second)
			s.is.Equal(s.Read().Steady, steady.Add(time.Second))
		})
	}
}

// A machine that slept has a clock that ran on meanwhile.
func TestSleep(t *testing.T) {
	inBubble(t, func(s *stand) {
		s.trusted()
		s.ahead, s.asleep = 10*time.Hour, 10*time.Hour
		s.trusted()
		s.asleep -= time.Second // the two clocks that it is measured by are not read at once
		s.trusted()
		s.asleep += time.Second
		s.trusted()
		s.ahead += 2 * time.Hour
		s.doubted(2*time.Hour, 10*time.Hour)
	})
}

// A pause between two processes is not a leap, however long; a clock that is behind is in doubt.
func TestRestart(t *testing.T) {
	inBubble(t, func(s *stand) {
		mark := clock.Mark{}.Saw(s.Read())
		written := s.wall().Add(time.Minute)
		time.Sleep(60 * time.Hour)
		s.is.Equal(s.restart(mark, written), 60*time.Hour-time.Minute)
		s.trusted()

		mark, written = clock.Mark{}.Saw(s.Read()), s.wall()
		s.ahead = -5 * time.Minute
		s.is.Equal(s.restart(mark, written), time.Duration(0))
		s.is.True(!s.Read().Doubt)
		s.ahead -= 1
		s.restart(mark, written)
		s.doubted(-5*time.Minute-1, 0)
	})
}

// A restart ends no doubt, and time goes on by what the wall clock says has passed.
func TestRestartInDoubt(t *testing.T) {
	for _, ahead := range []time.Duration{25 * time.Hour, -25 * time.Hour} {
		inBubble(t, func(s *stand) {
			s.trusted()
			s.ahead = ahead
			mark := clock.Mark{}.Saw(s.Read())
			time.Sleep(10 * time.Hour)
			s.restart(mark, time.Time{})
			s.doubted(ahead, 0)
		})
	}
}

// A clock that was five years fast when there was nothing to compare it with.
func TestFirstStartOfAFastClock(t *testing.T) {
	const years = 5 * 365 * 24 * time.Hour
	inBubble(t, func(s *stand) {
		s.ahead = years
		s.trusted()
		mark, written := clock.Mark{}.Saw(s.Read()), s.wall()
		s.ahead = 0
		s.restart(mark, written)
		s.doubted(-years, years)
		s.Confirm(1)
		s.trusted()
	})
}

func TestMark(t *testing.T) {
	is := is.New(t)
	for _, m := range []clock.Mark{{}, {At: time.Unix(1, 2).UTC()}, {At: time.Unix(3, 4).UTC(), Doubt: true,
		Skew: -time.Hour, Epoch: 2, Written: time.Unix(7, 8).UTC(), Since: time.Unix(5, 6).UTC()}} {
		got, err := clock.DecodeMark(m.Encode())
		is.NoErr(err)
		is.Equal(got, m)
	}
	_, err := clock.DecodeMark([]byte{1})
	is.True(err != nil)
}

// Slept returns each sleep of the machine once.
func TestSlept(t *testing.T) {
	inBubble(t, func(s *stand) {
		sleep := func(d time.Duration) { s.asleep, s.ahead = s.asleep+d, s.ahead+d }
		sleep(5 * time.Hour) // before there was a clock
		s.restart(clock.Mark{}, time.Time{})
		s.is.Equal(s.Slept(), time.Duration(0))
		sleep(60 * time.Hour)
		s.trusted()
		s.is.Equal(s.Slept(), 60*time.Hour)
		s.is.Equal(s.Slept(), time.Duration(0))
		sleep(time.Hour)
		s.is.Equal(s.Slept(), time.Hour)
	})
}
