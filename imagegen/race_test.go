package imagegen_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// 64 clients race for credits that suffice for a third of their calls, all outcomes mixed. What
// they saw, added up, is what the balance lost; and it was never negative.
func TestClientsRaceForCredits(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*imagegen.Config)) {
		const clients, calls = 64, 6
		plays := []*scripted{yieldImages(2, nil), yieldImages(1, nil), yieldImages(0, errors.New("no")), yieldImages(1, transient(1)),
			yieldImages(0, &imagegen.ProviderError{Class: imagegen.ClassRefused})}
		h := start(t, &scripted{caps: anything, do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			var n int
			fmt.Sscan(r.Prompt, &n)
			plays[n%len(plays)].do(ctx, r, yield)
		}}, option)
		granted := imagegen.Credits(clients * calls * 2 / 3)
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: granted})
		h.is.NoErr(err)

		var mu sync.Mutex
		var spent imagegen.Credits
		var queued []imagegen.GenerationID
		outcomes := map[string]int{}
		client := func(c int) error {
			service := h.engine.As(bob)
			for i := range calls {
				q := fox(imagegen.GenerateRequest{N: 2, Prompt: fmt.Sprint(c+i, " foxes"), Async: (c+i)%4 == 3, IdempotencyKey: fmt.Sprint(c, "-", i/2)})
				got, err := service.Generate(context.Background(), q)
				b, balanceErr := service.Balance(context.Background())
				if balanceErr != nil || b.Credits < 0 {
					return fmt.Errorf("balance %v, %v", b.Credits, balanceErr)
				}
				mu.Lock()
				switch {
				case err == nil && got.Status == imagegen.StatusQueued:
					queued = append(queued, got.ID)
					outcomes["queued"]++
				case err == nil:
					spent += got.Credits
					outcomes[fmt.Sprint("succeeded with ", len(got.Images))]++
				case errors.Is(err, imagegen.ErrInsufficientCredits), errors.Is(err, imagegen.ErrGenerationFailed), errors.Is(err, imagegen.ErrIdempotencyKeyReused):
					e, _ := errors.AsType[*imagegen.Error](err)
					outcomes[string(e.Code)]++
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
		for _, outcome := range []string{"queued", "succeeded with 1", "succeeded with 2", "insufficientCredits", "generationFailed"} {
			h.is.True(outcomes[outcome] > 0) // the mix was met
		}
		h.audit()
	})
}
