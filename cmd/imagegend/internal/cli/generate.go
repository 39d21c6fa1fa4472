package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
)

// generateCommand refuses what cannot work in this order: the request, the target, the address and the key. Only then
// is anything sent. The first call lists the models, so that a wrong address shows before anything is charged.
func (a *app) generateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "generate PROMPT",
		Short: "ask the service for images and save them",
		Long: "Asks the service for images and saves them. The names of the files go to standard output. Without -o a file\n" +
			"is named after the prompt and overwrites nothing; several images are numbered. A call that breaks off is\n" +
			"repeated under the same idempotency key, so that it is charged once. If you interrupt the command while it\n" +
			"waits with --async, it cancels the generation, and the credits come back.",
		Example: "  imagegend generate \"a fox in the snow\" -o fox.png\n" +
			"  imagegend generate \"the same fox, at night\" --ref fox.png --n 2 --quality high\n" +
			"  imagegend generate \"a fox\" --dev",
		Args: exactly("PROMPT"),
	}
	a.settings.GenerateFlags(c.Flags())
	asJSON := jsonFlag(c, "one JSON object: the generation and the files")
	c.RunE = a.action(func(cmd *cobra.Command, args []string) error {
		request, err := a.request(cmd, args[0])
		if err != nil {
			return err
		}
		out, err := newTarget(cmd, a, args[0])
		if err != nil {
			return err
		}
		// Two things cannot share standard output.
		if out.asJSON = *asJSON; out.asJSON && out.stdout {
			return usage(cmd, "standard output takes the image, so --json cannot be combined with -o -")
		}
		s, done, err := a.service(cmd)
		if err != nil {
			return err
		}
		defer done()
		return a.generateAndSave(cmd.Context(), s, request, out)
	})
	return c
}

// waiter is a Service that can wait for the end of a generation. Wait returns it also if it failed; an error means
// that the end was not seen. The Client of package client and daemon.Sandbox implement it.
type waiter interface {
	imagegen.Service
	Wait(ctx context.Context, id imagegen.GenerationID) (imagegen.Generation, error)
}

// service returns a client of the service or, with --dev, a service in this process. If there is no error, the caller
// calls the returned function when it is done. Nothing is sent yet.
func (a *app) service(cmd *cobra.Command) (waiter, func(), error) {
	s := a.settings
	if s.Dev {
		box, err := daemon.OpenSandbox(cmd.Context(), catalog.Default(catalog.Options{}))
		if err != nil {
			return nil, nil, err
		}
		// The images are saved by then, so an error of Close would change nothing.
		return box, func() { box.Close() }, nil
	}
	// The list of models needs no key, so without this check a missing key would show only after it.
	if s.APIKey == "" {
		return nil, nil,
			fmt.Errorf("an API key is needed, in $%s or --api-key; imagegend key create --user NAME makes one, --dev needs none", config.EnvName("api-key"))
	}
	c, err := client.New(s.URL, s.APIKey, nil)
	return c, func() {}, err
}

// request returns what the flags ask for, except that the model may still have to be chosen. It refuses what every
// service would refuse, so that nothing is sent. The idempotency key is new for each run of the command: repetitions
// within a run are charged once, and two runs are two requests.
func (a *app) request(cmd *cobra.Command, prompt string) (imagegen.GenerateRequest, error) {
	s := a.settings
	r := imagegen.GenerateRequest{Model: s.Model, Prompt: prompt, N: s.N, Quality: imagegen.Quality(s.Quality),
		Async: s.Async || s.NoWait, IdempotencyKey: rand.Text()}
	// What depends on the model, such as its sizes and tiers, only the service can judge.
	size, err := imagegen.ParseSize(s.Size)
	switch {
	case err != nil:
		return r, usage(cmd, "--size: %v", explain(err))
	case s.N > imagegen.MaxImages:
		return r, usage(cmd, "--n is at most %d", imagegen.MaxImages)
	case !slices.Contains(imagegen.Qualities(), r.Quality):
		return r, usage(cmd, "--quality is auto, low, medium or high; got %q", s.Quality)
	case s.OutputFormat != "" && !slices.Contains(imagegen.Formats(), imagegen.Format(s.OutputFormat)):
		return r, usage(cmd, "--output-format is png, jpeg or webp; got %q", s.OutputFormat)
	case s.OutputCompression > imagegen.MaxCompression:
		return r, usage(cmd, "--output-compression is at most %d", imagegen.MaxCompression)
	case !slices.Contains(imagegen.Backgrounds(), imagegen.Background(s.Background)):
		return r, usage(cmd, "--background is auto, opaque or transparent; got %q", s.Background)
	case s.MaxCredits < 0:
		return r, usage(cmd, "--max-credits is at least 1, or 0 for no maximum; got %d", s.MaxCredits)
	case s.Mask != "" && len(s.References) == 0:
		return r, usage(cmd, "--mask needs the --ref that it belongs to")
	case s.Dev && s.NoWait:
		return r, usage(cmd, "--no-wait cannot be combined with --dev, which keeps nothing")
	case s.NoWait && s.Output != "":
		return r, usage(cmd, "--no-wait leaves before there are images, so -o cannot be combined with it")
	}
	r.Size, r.Options, r.MaxCredits = size, a.options(), imagegen.Credits(s.MaxCredits)
	for _, path := range s.References {
		file, err := openReference(path)
		if err != nil {
			return r, err
		}
		r.References = append(r.References, file)
	}
	if s.Mask != "" {
		r.Mask, err = openReference(s.Mask)
	}
	return r, err
}

// options returns the options that the flags ask for. Those at their default are left out, since a model that lacks an
// option refuses it.
func (a *app) options() imagegen.Options {
	s := a.settings
	o := imagegen.Options{Format: imagegen.Format(s.OutputFormat)}
	if b := imagegen.Background(s.Background); b != imagegen.BackgroundAuto {
		o.Background = b
	}
	// 0 is a value like any other, so numbers below 0 stand for the default.
	if s.OutputCompression >= 0 {
		o.Compression = &s.OutputCompression
	}
	if s.Seed >= 0 {
		o.Seed = &s.Seed
	}
	return o
}

// generateAndSave asks, waits and saves. With --json the object is printed even if not all images could be saved: it
// names the files that were.
func (a *app) generateAndSave(ctx context.Context, s waiter, r imagegen.GenerateRequest, out target) error {
	if err := chooseModel(ctx, s, &r); err != nil {
		return a.unreachable(err)
	}
	// Nothing else may be written to standard error until stop has removed the line.
	stop := a.progress("generating")
	result, err := a.requestImages(ctx, s, r)
	stop()
	switch {
	case err != nil:
		return err
	case a.settings.NoWait:
		return a.printResult(out.asJSON, asked{ID: result.ID, Status: result.Status, Files: []string{}}, "%s",
			result.ID)
	// A failure is refunded in whole, so there is nothing to save and nothing to account for.
	case result.Failure != nil:
		return explain(result.Failure)
	}
	files, err := a.save(ctx, s, result.Generation, out)
	if out.asJSON {
		return errors.Join(err, printJSON(a.stdout, asked{result.ID, result.Status, result.Credits, files}))
	}
	if err == nil {
		a.account(result.Generation, result.Balance)
	}
	return err
}

// asked is what --json prints: a generation, and the names of its files, which are [] and not null if there are none.
// Credits is what was spent, which is 0 with --no-wait, when nothing has ended yet.
type asked struct {
	ID      imagegen.GenerationID `json:"id"`
	Status  imagegen.Status       `json:"status"`
	Credits imagegen.Credits      `json:"credits"`
	Files   []string              `json:"files"`
}

// requestImages sends the request, and waits for the end of asynchronous work unless --no-wait says otherwise. Both
// calls are repeated while that can help; the errors say where the work is found if it may go on.
func (a *app) requestImages(ctx context.Context, s waiter, r imagegen.GenerateRequest) (imagegen.Result, error) {
	result, err := persist(ctx, func() (imagegen.Result, error) { return s.Generate(ctx, r) })
	if err != nil {
		return result, a.unanswered(err)
	}
	// A synchronous call has waited already, and its answer has the images.
	if !r.Async || a.settings.NoWait {
		return result, nil
	}
	g, err := persist(ctx, func() (imagegen.Generation, error) { return s.Wait(ctx, result.ID) })
	if err != nil {
		return result, a.unwatched(ctx, s, result.ID, err)
	}
	result.Generation = g
	return result, nil
}

// account says on standard error what came and what it cost, so that standard output has the names of the files
// alone. b is nil after asynchronous work, whose answer has no balance.
func (a *app) account(g imagegen.Generation, b *imagegen.Balance) {
	if len(g.Images) < g.N {
		fmt.Fprintf(a.stderr, "%d of %d images came; the others were refunded\n", len(g.Images), g.N)
	}
	if a.settings.Dev {
		return
	}
	left := ""
	if b != nil {
		left = fmt.Sprintf(", %d left", b.Credits)
	}
	fmt.Fprintln(a.stderr, plural(g.Credits, "credit")+left)
}

// chooseModel takes the only model if none was named, and refuses one that the service does not list. It makes the
// first call, so that a wrong address shows before anything is charged. The list needs no key, so a wrong key shows
// later.
func chooseModel(ctx context.Context, s imagegen.Service, r *imagegen.GenerateRequest) error {
	models, err := s.Models(ctx)
	if err != nil {
		return err
	}
	ids := lists.Each(models, func(m imagegen.ModelInfo) string { return m.ID })
	switch {
	case len(ids) == 0:
		return errors.New("the service has no models; its operator names them in models.yaml")
	case r.Model == "" && len(ids) == 1:
		r.Model = ids[0]
	case r.Model == "":
		return fmt.Errorf("the service has several models; choose one with --model: %s", strings.Join(ids, ", "))
	case !slices.Contains(ids, r.Model):
		return fmt.Errorf("the service has no model %q; there are: %s", r.Model, strings.Join(ids, ", "))
	}
	return nil
}
