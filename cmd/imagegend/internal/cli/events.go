package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// eventsPause is how often --follow looks for what is new.
const eventsPause = time.Second

// eventsCommand prints each event as it is read, on a line of its own, so that it can follow for ever.
func (a *app) eventsCommand() *cobra.Command {
	var q admin.EventsQuery
	var follow bool
	c := &cobra.Command{
		Use:   "events",
		Short: "print what has happened, oldest first",
		Long: "Prints the feed of events, if the service keeps one (events: true): generations that were accepted and have\n" +
			"ended, credits that came and went, users and keys. The number in front is the place in the feed; with\n" +
			"--after it, a later call goes on there and misses nothing.",
		Example: "  imagegend events --follow\n" +
			"  imagegend events --after 1767225600000 --json >> events.jsonl",
	}
	c.Flags().Uint64Var(&q.After, "after", 0, "the `number` of the last event that was read; 0 begins with the oldest")
	c.Flags().BoolVar(&follow, "follow", false, "wait for further events, until it is interrupted")
	asJSON := jsonFlag(c, "JSON lines: one object for each event")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, _ []string) error {
		show := a.eventLine
		if *asJSON {
			lines := json.NewEncoder(a.stdout)
			lines.SetEscapeHTML(false)
			show = func(e admin.Event) error { return lines.Encode(e) }
		}
		for q.Limit = engine.MaxEvents; ; {
			p, err := admin.ListEvents.Do(cmd.Context(), s, q)
			if err != nil {
				return err
			}
			for _, e := range p.Events {
				if err := show(e); err != nil {
					return err
				}
			}
			q.After = p.Next
			switch {
			case len(p.Events) > 0:
			case !follow:
				return nil
			default:
				select {
				case <-cmd.Context().Done():
					return nil
				case <-time.After(eventsPause):
				}
			}
		}
	})
	return c
}

// eventLine prints an event for people: its data as in JSON, without the quotes.
func (a *app) eventLine(e admin.Event) error {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return err
	}
	about := strings.NewReplacer(`"`, "", ",", " ", ":", "=").Replace(strings.Trim(string(data), "{}"))
	_, err = fmt.Fprintln(a.stdout, e.Number, when(e.Timestamp), e.Type, about)
	return err
}
