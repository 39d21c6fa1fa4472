package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// 64 clients race for credits that suffice for a third of their calls, all outcomes mixed. What
// they saw, added up, is what the balance lost; and it was never negative.
func TestClientsRaceForCredits(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		const clients, calls = 64, 6
		plays := []struct {
			images int
			err    error
		}{{2, nil}, {1, nil}, {0, errors.New("no")}, {1, transient(1)},
			{0, &imagegen.ProviderError{Class: imagegen.ClassRefused}}}
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				var n int
				fmt.Sscan(r.Prompt, &n)
				for range plays[n%len(plays)].images {
					if !yield(picture(64, 64), nil) {
						return
					}
				}
				if err := plays[n%len(plays)].err; err != nil {
					yield(imagegen.ProviderImage{}, err)
				}
			}}, option)
		granted := imagegen.Credits(clients * calls / 2 * 2 / 3) // each second call repeats the one before
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: granted})
		h.is.NoErr(err)

		var mu sync.Mutex
		var spent imagegen.Credits
		var queued []imagegen.GenerationID
		outcomes := map[string]int{}
		client := func(c int) error {
			service := h.engine.As(bob)
			for i := range calls {
				n := c + i/2
				q := fox(imagegen.GenerateRequest{N: 2, Prompt: fmt.Sprint(n, " foxes"), Size: imagegen.Size{Width: 64,
					Height: 64},
					Async: n%4 == 3, IdempotencyKey: fmt.Sprint(c, "-", n)})
				got, err := service.Generate(context.Background(), q)
				failure, _ := errors.AsType[*imagegen.Error](err)
				b, balanceErr := service.Balance(context.Background())
				if balanceErr != nil || b.Credits < 0 {
					return fmt.Errorf("balance %v, %v", b.Credits, balanceErr)
				}
				mu.Lock()
				switch {
				case err == nil && got.Replayed, failure != nil && failure.Replayed:
					outcomes["replayed"]++
				case err == nil && got.Status == imagegen.StatusQueued:
					queued = append(queued, got.ID)
					outcomes["queued"]++
				case err == nil:
					spent += got.Credits
					outcomes[fmt.Sprint("succeeded with ", len(got.Images))]++
				case errors.Is(err, imagegen.ErrInsufficientCredits), errors.Is(err, imagegen.ErrGenerationFailed):
					outcomes[string(failure.Code)]++
				default:
					mu.Unlock()
					return err
				}
				mu.Unlock()
			}
			return nil
		}
		failed := make(chan error, clients)
		for c := range clients {
			go func() { failed <- client(c) }()
		}
		for range clients {
			h.is.NoErr(<-failed)
		}
		for _, id := range queued {
			spent += h.endedFor(bob, id).Credits
		}
		b, err := h.engine.As(bob).Balance(t.Context())
		h.is.NoErr(err)
		t.Logf("spent %d of %d; %v", spent, granted, outcomes)
		h.is.Equal(b.Credits, granted-spent)
		for _, outcome := range []string{"queued", "replayed", "succeeded with 1", "succeeded with 2",
			"insufficientCredits", "generationFailed"} {
			h.is.True(outcomes[outcome] > 0) // the mix was met
		}
		h.audit()
	})
}
