// Package imagegen is an image generation service metered in credits.
//
// A caller sends a prompt and, optionally, reference images. The service charges the caller, has a
// provider make the images, checks and stores them, and refunds the credits of every image that was
// not delivered. A call returns when the images are stored; an asynchronous call returns at once, and
// the caller polls for the result. Credits stay exact to the unit through crashes, retries and races.
//
// This package defines the types and contracts of the service, and how a generation moves through its
// states. Package engine implements the rules. Four interfaces connect the parts, and each part can be
// replaced:
//
//	Service   what one user can do; the engine returns one for each user
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
//	err = service.Start()
//	defer service.Stop(ctx)
//
//	_, err = db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 100})
//	result, err := service.As("alice").Generate(ctx, imagegen.GenerateRequest{
//		Model:  "fake-1",
//		Prompt: "a fox in the snow",
//	})
//
// Package httpapi serves an engine over HTTP, package client implements Service over that interface,
// and the command imagegend is a server and a command-line client.
//
// Comments in this module list errors as "ErrX: when it is returned". ErrNotFound without a
// condition means that the method was asked for something that does not exist.
package imagegen
