package console_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func TestEngineOperations(t *testing.T) {
	s := open(t)
	disk := console.Disk{Free: 2, Total: 3, Reserve: 1}
	o := console.EngineOperations{Engine: s.Engine, Version: "v1", Started: s.clock.Now(),
		Disk: func() (console.Disk, error) { return disk, nil }}
	status := func() console.Status {
		t.Helper()
		got, err := o.Status(t.Context())
		s.is.NoErr(err)
		return got
	}
	want := console.Status{Version: "v1", Started: s.clock.Now(), Slots: 512, Disk: disk,
		Providers: []engine.ProviderHealth{{Model: "fake-1", Provider: "fake", Load: engine.ModelLoad{Bound: 64,
			Most: 64}}}}
	s.is.Equal(cmp.Diff(want, status(), cmpopts.EquateEmpty()), "")

	_, err := s.As(imagegen.UserID("alice")).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1",
		Prompt: "[fake:fail]"})
	s.is.True(errors.Is(err, imagegen.ErrGenerationFailed))
	s.is.True(!status().Providers[0].At.IsZero())

	g, err := s.As(imagegen.UserID("alice")).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1",
		Prompt: "[fake:hang]", N: 2, Async: true})
	s.is.NoErr(err)
	for status().Running == 0 {
		time.Sleep(time.Millisecond)
	}
	got := status()
	s.is.Equal(got.OpenCharges, 1)
	s.is.Equal(got.Charges, []console.OpenCharge{{Generation: g.ID, User: "alice", Credits: 2, Since: g.CreatedAt}})

	report, err := o.Audit(t.Context())
	s.is.NoErr(err)
	s.is.True(report.Clean())
	last := status().LastAudit
	s.is.True(last != nil && last.Err == nil && last.At.Equal(s.clock.Now()))
	s.is.Equal(cmp.Diff(report, last.Report), "")
}

func TestEngineOperationsFail(t *testing.T) {
	s := open(t)
	fault := errors.New("no such disk")
	o := console.EngineOperations{Engine: s.Engine, Disk: func() (console.Disk, error) { return console.Disk{}, fault }}
	_, err := o.Status(t.Context())
	s.is.True(errors.Is(err, fault))
}
