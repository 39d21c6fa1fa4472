package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui"
	"github.com/imagegend/imagegend/imagegen/provider/fal"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/vertex"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
	"github.com/imagegend/imagegend/imagegen/provider/router"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui"
	"github.com/imagegend/imagegend/imagegen/provider/webapi"
)

// kind is a type of provider: block is the struct that its keys fill, and make constructs the provider from what
// block then holds.
type kind struct {
	block reflect.Value
	make  func() (provided, error)
}

// kinds lists the types of providers. Each call of a function in it begins a new provider with an empty block.
func (s source) kinds() map[string]func() kind {
	return map[string]func() kind{
		"bfl":       kindOf(bfl.New),
		"comfyui":   kindOf(comfyui.New),
		"fake":      kindOf(s.fake),
		"fal":       kindOf(fal.New),
		"gemini":    kindOf(newGemini),
		"http":      kindOf(webapi.New),
		"openai":    kindOf(openai.New),
		"replicate": kindOf(replicate.New),
		"router":    kindOf(s.router),
		"sdwebui":   kindOf(sdwebui.New),
	}
}

// kindOf returns the kind of a constructor that takes a configuration. A router's constructor returns its upstreams
// too; those of the others are derived from the block.
func kindOf[C any, P imagegen.Provider](construct func(C) (P, error)) func() kind {
	return func() kind {
		config := new(C)
		return kind{reflect.ValueOf(config).Elem(), func() (provided, error) {
			p, err := construct(*config)
			if several, ok := any(p).(provided); ok {
				return several, err
			}
			return provided{Provider: p}, err
		}}
	}
}

// fakeBlock is the block of the fake provider. It draws or, with an Image, returns the same file each time, so that a
// benchmark measures what surrounds the provider.
type fakeBlock struct{ Image []byte }

func (s source) fake(b fakeBlock) (*provider.Fake, error) { return s.Options.fake(b.Image), nil }

func (o Options) fake(image []byte) *provider.Fake {
	f := &provider.Fake{Image: image}
	if o.AllowCrash {
		f.Crash = crash
	}
	return f
}

// crash ends the process so that no deferred call and no signal handler runs. It never returns: a signal may take a
// moment to arrive, and no code after it may run meanwhile.
func crash() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		os.Exit(137) // the status of a process that was killed
	}
	select {}
}

// newGemini makes a provider of the Gemini API, or of Vertex AI if there is a service account.
func newGemini(c vertex.Config) (*gemini.Provider, error) {
	switch {
	case c.ServiceAccount != "" && c.APIKey != "":
		return nil, errors.New("it has an API key and a service account; leave one of them out")
	case c.ServiceAccount != "":
		return vertex.New(c)
	case c.Project != "" || c.Location != "":
		return nil, errors.New("project and location are for Vertex AI, which takes a service account: write service_account_file: PATH")
	}
	return gemini.New(c.Config)
}

type (
	// routerBlock is the block of a router. Its Members replace those of router.Config, since in the file a member
	// holds the block of its provider.
	routerBlock struct {
		router.Config
		Members []memberBlock
	}
	memberBlock struct {
		router.Member
		Provider provided
	}
)

// router makes a router over the members of a block. The upstreams of a member carry the member's name: accepted work
// is found again by it, so another name is another upstream.
func (s source) router(b routerBlock) (provided, error) {
	var upstreams []string
	// Members are built here and not by router.New, since each brings a provider with upstreams of its own.
	for _, block := range b.Members {
		m := block.Member
		m.Provider = block.Provider.Provider
		if m.Provider == nil {
			return provided{},
				//lint:ignore ST1005 it begins with the name of a field, which explain replaces by the key
				errors.New("Members: each needs a provider, such as provider: {type: openai, key_env: OPENAI_API_KEY}")
		}
		m.Name = cmp.Or(m.Name, m.Provider.Name())
		// Several upstreams are those of a router within this one, which tells its own members apart.
		if len(block.Provider.upstreams) == 1 {
			m.Upstream = block.Provider.upstreams[0]
		}
		for _, u := range block.Provider.upstreams {
			upstreams = append(upstreams, fmt.Sprintf("router member %s: %s", m.Name, u))
		}
		b.Config.Members = append(b.Config.Members, m)
	}
	// The log is not a key of the file, and comes from the daemon.
	b.Log = s.Log
	p, err := router.New(b.Config)
	return provided{p, upstreams}, err
}
