package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func TestImagesOfAllTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, j := &queue{}, &journal{}
		images, err := collect(t.Context(), runner(q), request(3, j))
		is.NoErr(err)
		is.Equal(images, []string{"image 1", "image 2", "image 3"})
		is.Equal(len(j.jobs), 3) // each submission was saved
	})
}

func TestImagesPerTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{poll: func(h string, _ int) (task.Progress, error) { return done(h+"a", h+"b", h+"c"), nil }}
		r, asked := runner(q), request(3, &journal{})
		r.PerTask = 2
		reported := providertest.Used(&asked)
		images, err := collect(t.Context(), r, asked)
		is.Equal(reported(), imagegen.UpstreamUsage{Surplus: 3})
		is.NoErr(err)
		is.Equal(q.submitted, 2)
		is.Equal(q.wanted, 3)
		is.Equal(len(images), 3) // the surplus is not even fetched
	})
}

// The end of one task does not cost the images of another.
func TestPartOfTheImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{poll: func(h string, _ int) (task.Progress, error) {
			if h == "2" {
				return task.Progress{Done: true, Err: failed(imagegen.ClassRefused)}, nil
			}
			return done(h), nil
		}}
		images, err := collect(t.Context(), runner(q), request(3, &journal{}))
		is.Equal(images, []string{"1", "3"})
		is.Equal(classOf(t, err), imagegen.ClassRefused)
	})
}

// A drain leaves the tasks alone; the next attempt finds them and submits nothing.
func TestResumedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, j := &queue{poll: never}, &journal{}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(imagegen.ErrStopping) })
		images, err := collect(ctx, runner(q), request(2, j))
		is.Equal(len(images), 0)
		is.True(errors.Is(err, imagegen.ErrStopping))
		is.Equal(len(q.cancelled), 0)

		q.poll = nil
		images, err = collect(t.Context(), runner(q), request(2, j))
		is.NoErr(err)
		is.Equal(images, []string{"image 1", "image 2"})
		is.Equal(q.submitted, 2)
	})
}

// A drain in the middle of a submission does not lose the task that comes of it.
func TestDrainDuringTheSubmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		ctx, drain := context.WithCancelCause(t.Context())
		q, j := &queue{submit: func(int) error { drain(imagegen.ErrStopping); return nil }}, &journal{}
		_, err := collect(ctx, runner(q), request(1, j))
		is.True(errors.Is(err, imagegen.ErrStopping))
		is.Equal(len(q.cancelled), 0)
		images, err := collect(t.Context(), runner(q), request(1, j))
		is.NoErr(err)
		is.Equal(images, []string{"image 1"})
		is.Equal(q.submitted, 1)
	})
}

// Tasks that were not submitted when the attempt ended are submitted by the next one.
func TestResumedAndCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		j := &journal{jobs: [][]byte{[]byte(`{"provider":"test","tasks":[{"status":"7"},{}]}`)}}
		q := &queue{}
		images, err := collect(t.Context(), runner(q), request(2, j))
		is.NoErr(err)
		is.Equal(images, []string{"image 1", "image 7"})
		is.Equal(q.submitted, 1)
	})
}

func TestJobThatDoesNotFit(t *testing.T) {
	for name, saved := range map[string]string{
		"another provider's": `{"provider":"other","tasks":[{"status":"7"}]}`,
		"of another count":   `{"provider":"test","tasks":[{"status":"7"},{"status":"8"}]}`,
		"no JSON":            `upstream-7`,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			q := &queue{}
			_, err := collect(t.Context(), runner(q), request(1, &journal{jobs: [][]byte{[]byte(saved)}}))
			is.Equal(classOf(t, err), imagegen.ClassUnknown)
			is.Equal(q.submitted, 0) // it may have been paid for
		})
	}
}

// A task whose time is up is not polled any more.
func TestCancelledAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{poll: never}
		late := errors.New("the time is up")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
		defer cancel()
		_, err := collect(ctx, runner(q), request(1, &journal{}))
		is.True(errors.Is(err, late))
		is.Equal(q.cancelled, []string{"1"})
	})
}

func TestCancelledWhenItCannotBeSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, unsaved := &queue{}, errors.New("the disk is full")
		_, err := collect(t.Context(), runner(q), request(1, &journal{err: unsaved}))
		is.True(errors.Is(err, unsaved))
		is.Equal(q.cancelled, []string{"1"})
		is.Equal(len(q.asked), 0) // not before it is durable
	})
}

// A submission without an answer is not repeated, by a later attempt either.
func TestSubmissionWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, j := &queue{submit: func(int) error { return failed(imagegen.ClassUnknown) }}, &journal{}
		_, err := collect(t.Context(), runner(q), request(1, j))
		is.Equal(classOf(t, err), imagegen.ClassUnknown)
		_, err = collect(t.Context(), runner(q), request(1, j))
		is.Equal(classOf(t, err), imagegen.ClassUnknown)
		is.Equal(q.submitted, 1)
	})
}

// A task that the upstream turned down is not saved: another attempt submits it again.
func TestSubmissionTurnedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, j := &queue{submit: func(n int) error {
			if n == 1 {
				return failed(imagegen.ClassRateLimited)
			}
			return nil
		}}, &journal{}
		_, err := collect(t.Context(), runner(q), request(1, j))
		is.Equal(classOf(t, err), imagegen.ClassRateLimited)
		is.Equal(len(j.jobs), 0)
		images, err := collect(t.Context(), runner(q), request(1, j))
		is.NoErr(err)
		is.Equal(images, []string{"image 2"})
	})
}

// A task that ended before it began is forgotten, else each attempt would find the same end.
func TestTaskThatNeverBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, j := &queue{poll: func(h string, _ int) (task.Progress, error) {
			if h == "1" {
				return task.Progress{Done: true, Err: failed(imagegen.ClassUnavailable)}, nil
			}
			return done(h), nil
		}}, &journal{}
		_, err := collect(t.Context(), runner(q), request(1, j))
		is.Equal(classOf(t, err), imagegen.ClassUnavailable)
		is.Equal(j.last(), nil)
		images, err := collect(t.Context(), runner(q), request(1, j))
		is.NoErr(err)
		is.Equal(images, []string{"2"})
	})
}

// A caller who has stopped asking gets no image any more: its tasks are cancelled.
func TestCancelledByTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, j, unwanted := &queue{poll: never}, &journal{}, errors.New("no longer wanted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(unwanted) })
		_, err := collect(ctx, runner(q), request(2, j))
		is.True(errors.Is(err, unwanted))
		is.Equal(len(q.cancelled), 2)
		is.Equal(j.last(), nil)
	})
}

// Another attempt has taken the generation over, with its tasks.
func TestTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q := &queue{poll: never}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(imagegen.ErrStale) })
		_, err := collect(ctx, runner(q), request(2, &journal{}))
		is.True(errors.Is(err, imagegen.ErrStale))
		is.Equal(len(q.cancelled), 0)
	})
}

// brokenOff asks for two images and takes the first. The second task is then still running; later it is done.
func brokenOff(is *is.I, q *queue, j *journal) {
	q.poll = func(h string, _ int) (task.Progress, error) {
		if h == "2" {
			return task.Progress{}, nil
		}
		return done(h), nil
	}
	for _, err := range generate(context.Background(), runner(q), request(2, j)) {
		is.NoErr(err)
		break
	}
	q.poll = nil
}

// Tasks whose images are not taken are cancelled. The job keeps those that were not: if the
// image could not be stored, another attempt follows.
func TestBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		q, j := &queue{}, &journal{}
		brokenOff(is, q, j)
		is.Equal(q.cancelled, []string{"2"})
		images, err := collect(t.Context(), runner(q), request(2, j))
		is.NoErr(err)
		is.Equal(images, []string{"image 1", "image 3"})
	})
}

// A task that the upstream has not cancelled is still worth its price.
func TestBreakWhereNothingIsCancelled(t *testing.T) {
	for name, q := range map[string]*queue{
		"there is no way to":    {uncancellable: true},
		"the upstream does not": {cancel: errors.New("the upstream answered 500")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				j := &journal{}
				brokenOff(is, q, j)
				images, err := collect(t.Context(), runner(q), request(2, j))
				is.NoErr(err)
				is.Equal(images, []string{"image 1", "image 2"})
				is.Equal(q.submitted, 2)
			})
		})
	}
}

// What a task has used is reported once, by the attempt in which it ends or is given up.
func TestUsedIsReportedOnce(t *testing.T) {
	const price = 3
	used := imagegen.UpstreamUsage{Time: time.Second}
	for name, c := range map[string]struct {
		poll  func(string, int) (task.Progress, error)
		cause error // ends the context after a minute
		save  error
		want  imagegen.UpstreamUsage
	}{
		"done": {func(h string, _ int) (task.Progress, error) {
			return task.Progress{Done: true, Images: []string{h}, Used: used}, nil
		}, nil, nil, imagegen.UpstreamUsage{Units: price, Time: time.Second}},
		"failed": {func(string, int) (task.Progress, error) {
			return task.Progress{Done: true, Err: failed(imagegen.ClassRefused), Used: used}, nil
		}, nil, nil, imagegen.UpstreamUsage{Units: price, Time: time.Second}},
		"out of reach": {func(string, int) (task.Progress, error) { return task.Progress{}, answered(404, 0) },
			nil, nil, imagegen.UpstreamUsage{Units: price}},
		"given up":    {never, errors.New("the time is up"), nil, imagegen.UpstreamUsage{Units: price}},
		"not saved":   {never, nil, errors.New("the disk is full"), imagegen.UpstreamUsage{Units: price}},
		"interrupted": {never, imagegen.ErrStopping, nil, imagegen.UpstreamUsage{}},
		"taken over":  {never, imagegen.ErrStale, nil, imagegen.UpstreamUsage{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.cause != nil {
					defer time.AfterFunc(time.Minute, func() { cancel(c.cause) }).Stop()
				}
				r := request(1, &journal{err: c.save})
				reported := providertest.Used(&r)
				collect(ctx, runner(&queue{poll: c.poll, units: price}), r)
				is.Equal(reported(), c.want)
			})
		})
	}
}

// A task's price survives a restart with the task.
func TestPriceIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		j := &journal{}
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { stop(imagegen.ErrStopping) })
		collect(ctx, runner(&queue{poll: never, units: 3}), request(2, j))
		r := request(2, j)
		reported := providertest.Used(&r)
		images, err := collect(t.Context(), runner(&queue{}), r)
		is.NoErr(err)
		is.Equal(len(images), 2)
		is.Equal(reported(), imagegen.UpstreamUsage{Units: 6})
	})
}
