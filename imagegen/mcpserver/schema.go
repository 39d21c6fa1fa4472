package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/nearest"
)

// schemas are those of schemaOf, by type: servers that share a cache of the SDK's are recognised by the same pointers.
var schemas sync.Map

// schemaOf is the schema of what a tool takes or returns, as it is derived from a type, but with one type for each
// value. Slices and pointers would have a list of two, of which one is null: what converts schemas for a vendor that
// knows no such lists then refuses all tools. T must be a struct whose schema can be derived.
func schemaOf[T any]() *jsonschema.Schema {
	t := reflect.TypeFor[T]()
	if known, ok := schemas.Load(t); ok {
		return known.(*jsonschema.Schema)
	}
	s, err := jsonschema.ForType(t, nil)
	if err != nil {
		panic("mcpserver: " + err.Error()) // a type of this package's, so every test meets it
	}
	makePlain(s)
	known, _ := schemas.LoadOrStore(t, s)
	return known.(*jsonschema.Schema)
}

// makePlain replaces a list of null and one other type by that type, in s and in all that it contains.
func makePlain(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, property := range s.Properties {
		makePlain(property)
	}
	for _, inner := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
		if inner != nil {
			makePlain(inner)
		}
	}
}

// arguments makes an argument that is null an absent one, as over HTTP: where a vendor wants every parameter to be
// required, its models send null for those that they leave out. Some clients send an empty text (cursor/cursor, issue
// 3614), and something to a tool that takes nothing. It refuses an argument that the tool does not have, with the one
// that was probably meant: the SDK would name neither.
func (t *tools) arguments(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		call, ok := r.(*mcp.CallToolRequest)
		if !ok {
			return next(ctx, method, r)
		}
		var all map[string]json.RawMessage
		if json.Unmarshal(call.Params.Arguments, &all) != nil || all == nil { // the SDK refuses what is not an object
			return next(ctx, method, r)
		}
		takes, known := t.takes[call.Params.Name]
		for name := range all {
			if len(takes) > 0 && !slices.Contains(takes, name) {
				var refused mcp.CallToolResult
				refused.SetError(unknown(name, takes))
				return &refused, nil
			}
		}
		maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool {
			return known && len(takes) == 0 || string(v) == "null" || string(v) == `""`
		})
		var err error
		if call.Params.Arguments, err = json.Marshal(all); err != nil {
			return nil, err
		}
		return next(ctx, method, r)
	}
}

func unknown(name string, takes []string) error {
	name, hint := name[:min(len(name), 40)], ""
	if near := nearest.Field(name, takes); near != "" {
		hint = "; the nearest known one is " + near
	}
	return fmt.Errorf("%s: unknown argument %q%s; known are: %s", imagegen.CodeInvalidRequest, name, hint,
		strings.Join(takes, ", "))
}
