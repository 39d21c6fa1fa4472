// Package imagegen is an image generation service metered in credits.
//
// A caller sends a prompt, and reference images if it likes. The service charges first, has a
// provider generate, checks and stores the images, gives back the credits of every image that did
// not come, and answers at once or by polling. Credits stay exact to the unit through crashes,
// retries and races.
//
// This package says what the service is: its types, its contracts, and how a generation moves through its
// states. Package engine carries the rules. It stands on four interfaces, each of which can be replaced:
//
//	Service   what one user can do; the engine hands one out for each user
//	Ledger    takes and returns credits
//	Provider  turns a prompt into images
//	Store     keeps generations, keys and users
//
// A program that embeds the service opens a store, gives the engine a model and asks on behalf of
// a user:
//
//	db, err := storage.Open("data", nil)
//	...
//	service, err := engine.New(engine.Config{
//		Store:  db,
//		Ledger: db,
//		Models: []engine.Model{{
//			ID:       "fake-1",
//			Provider: &provider.Fake{},
//			Credits:  map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4},
//		}},
//	})
//	...
//	err = service.Start(ctx)
//	defer service.Stop(ctx)
//
//	_, err = db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 100})
//	result, err := service.As("alice").Generate(ctx, imagegen.GenerateRequest{
//		Model:  "fake-1",
//		Prompt: "a fox in the snow",
//	})
//
// Package httpapi serves an engine over HTTP, package client is the same Service from afar, and
// the command imagegend is both with a configuration file.
package imagegen
