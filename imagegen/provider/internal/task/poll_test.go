package task_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
)

// gaps are the times between the submission, the first question and so on.
func gaps(start time.Time, asked []time.Time) (gaps []time.Duration) {
	for _, at := range asked {
		gaps = append(gaps, at.Sub(start))
		start = at
	}
	return gaps
}

func TestQuestionsComeLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{poll: func(_ string, asked int) (task.Progress, error) {
			if asked < 8 {
				return task.Progress{}, nil
			}
			return done("image"), nil
		}}
		start := time.Now()
		_, err := collect(t.Context(), runner(q), request(1, &journal{}))
		is.NoErr(err)
		got := gaps(start, q.asked["1"])
		is.Equal(got[:3], []time.Duration{time.Second, 1500 * time.Millisecond, 2250 * time.Millisecond})
		is.Equal(got[len(got)-1], 10*time.Second)
	})
}

func TestUpstreamPutsTheQuestionOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{poll: func(_ string, asked int) (task.Progress, error) {
			switch asked {
			case 1:
				return task.Progress{Wait: 20 * time.Second}, nil
			case 2:
				return task.Progress{}, answered(429, 15*time.Second)
			case 3:
				return task.Progress{}, answered(503, time.Hour)
			}
			return done("image"), nil
		}}
		start := time.Now()
		_, err := collect(t.Context(), runner(q), request(1, &journal{}))
		is.NoErr(err)
		is.Equal(gaps(start, q.asked["1"]), []time.Duration{time.Second, 20 * time.Second, 15 * time.Second,
			30 * time.Second})
	})
}

func TestUnansweredQuestions(t *testing.T) {
	lost := failed(imagegen.ClassUnknown)
	for name, c := range map[string]struct {
		failures int
		err      error
		asked    int
		found    bool
	}{
		"a connection that broke":  {3, lost, 4, true},
		"an overloaded upstream":   {12, answered(502, 0), 13, true},
		"one that never recovers":  {1000, lost, 13, false},
		"a question that is vain":  {1000, answered(404, 0), 1, false},
		"a key that is refused":    {1000, answered(401, 0), 1, false},
		"too many questions, once": {1, answered(429, 0), 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				q := &queue{poll: func(_ string, asked int) (task.Progress, error) {
					if asked <= c.failures {
						return task.Progress{}, c.err
					}
					return done("image"), nil
				}}
				images, err := collect(t.Context(), runner(q), request(1, &journal{}))
				is.Equal(len(q.asked["1"]), c.asked)
				is.Equal(q.submitted, 1)
				if c.found {
					is.NoErr(err)
					is.Equal(images, []string{"image"})
					return
				}
				is.Equal(classOf(t, err), imagegen.ClassUnknown) // it may have been paid for
				is.Equal(q.cancelled, []string{"1"})             // and nobody will ask again
			})
		})
	}
}

// Only failures in a row count: a long task may see many.
func TestQuestionsThatFailNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{poll: func(_ string, asked int) (task.Progress, error) {
			switch {
			case asked == 100:
				return done("image"), nil
			case asked%2 == 0:
				return task.Progress{}, answered(502, 0)
			}
			return task.Progress{}, nil
		}}
		_, err := collect(t.Context(), runner(q), request(1, &journal{}))
		is.NoErr(err)
	})
}

func TestImagesThatCannotBeFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{
			poll: func(string, int) (task.Progress, error) { return done("late", "gone", "there"), nil },
			fetch: func(address string, tried int) error {
				if address == "gone" || address == "late" && tried < 3 {
					return failed(imagegen.ClassUnknown)
				}
				return nil
			},
		}
		r := runner(q)
		r.PerTask = 3
		images, err := collect(t.Context(), r, request(3, &journal{}))
		is.Equal(images, []string{"late", "there"}) // without the one that is gone
		is.Equal(classOf(t, err), imagegen.ClassUnknown)
		is.Equal(q.fetched, map[string]int{"late": 3, "gone": 5, "there": 1})
	})
}
