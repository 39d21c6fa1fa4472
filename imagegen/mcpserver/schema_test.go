package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen/mcpserver"
)

// schema is a JSON schema as a client reads it.
type schema map[string]any

// listed are the tools as a client gets them: schemas by tool, of inputs and of outputs.
func listed(t *testing.T, a *agent) (inputs, outputs map[string]schema) {
	t.Helper()
	list, err := a.ListTools(t.Context(), nil)
	a.is.NoErr(err)
	inputs, outputs = map[string]schema{}, map[string]schema{}
	for _, tool := range list.Tools {
		inputs[tool.Name], outputs[tool.Name] = asSchema(t, tool.InputSchema), asSchema(t, tool.OutputSchema)
	}
	return inputs, outputs
}

func asSchema(t *testing.T, v any) (s schema) {
	t.Helper()
	b, err := json.Marshal(v)
	is.New(t).NoErr(err)
	is.New(t).NoErr(json.Unmarshal(b, &s))
	return s
}

// within calls f for a schema and all that it contains, with the path of each.
func (s schema) within(path string, f func(path string, s schema)) {
	f(path, s)
	for _, name := range slices.Sorted(maps.Keys(s.object("properties"))) {
		s.object("properties").object(name).within(path+"."+name, f)
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inner := s.object(name); inner != nil {
			inner.within(path+"."+name, f)
		}
	}
}

// object is the value of a name if that is an object, else nil.
func (s schema) object(name string) schema {
	if o, ok := s[name].(schema); ok {
		return o
	}
	o, _ := s[name].(map[string]any)
	return o
}

// texts are the strings of a list.
func (s schema) texts(name string) (all []string) {
	list, _ := s[name].([]any)
	for _, v := range list {
		all = append(all, v.(string))
	}
	return all
}

// Each value has one type, of inputs and of outputs.
func TestOneTypeEach(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	inputs, outputs := listed(t, a)
	a.is.Equal(len(inputs), 6)
	for _, all := range []map[string]schema{inputs, outputs} {
		for tool, s := range all {
			s.within(tool, func(path string, s schema) {
				if _, one := s["type"].(string); !one {
					t.Errorf("%s has the type %v", path, s["type"])
				}
			})
		}
	}
}

// gemini converts the parameters of a function for the Gemini API, by the fields of its Schema
// (google.ai.generativelanguage.v1beta.Schema; before November 2025 no others were taken): one type each, no unions, no
// additionalProperties.
func gemini(s schema) (schema, error) {
	known := []string{"description", "enum", "format", "items", "maxItems", "maximum", "minItems", "minimum",
		"properties", "required", "title", "type"}
	types := []string{"string", "number", "integer", "boolean", "array", "object"}
	out := schema{}
	for name, v := range s {
		switch {
		case name == "additionalProperties" && v == false: // converters leave it out
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("%q is not a field of Schema", name)
		default:
			out[name] = v
		}
	}
	kind, ok := s["type"].(string)
	if !ok || !slices.Contains(types, kind) {
		return nil, fmt.Errorf("the type is %v", s["type"])
	}
	out["type"] = strings.ToUpper(kind)
	if kind == "array" {
		items, err := gemini(s.object("items"))
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		out["items"] = items
	}
	properties := schema{}
	for name := range s.object("properties") {
		p, err := gemini(s.object("properties").object(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		properties[name] = p
	}
	out["properties"] = properties
	return out, nil
}

// strict converts the parameters of a function for OpenAI's strict mode, by the guides to function calling and to
// structured outputs (August 2024, and unchanged in this since): every object names all its properties as required and
// takes no others, so what can be absent becomes a union with null.
func strict(s schema) (schema, error) {
	kind, ok := s["type"].(string)
	if !ok {
		return nil, fmt.Errorf("the type is %v: a union looks like what can be absent", s["type"])
	}
	out := maps.Clone(s)
	if kind == "array" {
		items, err := strict(s.object("items"))
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		out["items"] = items
	}
	if kind != "object" {
		return out, nil
	}
	if s["additionalProperties"] != false {
		return nil, fmt.Errorf("additionalProperties is %v", s["additionalProperties"])
	}
	properties := schema{}
	for name := range s.object("properties") {
		p, err := strict(s.object("properties").object(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !slices.Contains(s.texts("required"), name) {
			p["type"] = []any{p["type"], "null"}
		}
		properties[name] = p
	}
	out["properties"], out["required"], out["additionalProperties"] = properties, slices.Sorted(maps.Keys(properties)),
		false
	return out, nil
}

// Every tool can be offered to a model of either vendor.
func TestSchemasOfVendors(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	inputs, _ := listed(t, a)
	for tool, s := range inputs {
		if _, err := gemini(s); err != nil {
			t.Errorf("Gemini: %s: %v", tool, err)
		}
		if _, err := strict(s); err != nil {
			t.Errorf("OpenAI: %s: %v", tool, err)
		}
	}
}

// A model in strict mode sends every parameter, and null for what it leaves out: each tool takes that as if it were
// absent. What is required is still missing.
func TestNulls(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	inputs, _ := listed(t, a)
	var g seen
	a.call("generate_image", map[string]any{"prompt": "a fox", "size": "32x32"}, &g)
	wanted := map[string]any{"prompt": "a fox", "id": g.ID}
	for tool, s := range inputs {
		converted, err := strict(s)
		a.is.NoErr(err)
		arguments := map[string]any{}
		for name := range converted.object("properties") {
			arguments[name] = wanted[name]
		}
		a.call(tool, arguments, nil)
	}
	a.is.Equal(a.spent(), 2)
	a.refused("generate_image", map[string]any{"prompt": nil}, "prompt")
	a.refused("get_generation", map[string]any{"id": nil}, "id")
	a.refused("generate_image", map[string]any{"prompt": "a fox", "references": []any{nil}}, "references")
	r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_models", Arguments: json.RawMessage("null")})
	a.is.NoErr(err)
	a.is.True(!r.IsError)
}

// Some clients send an empty text for what is left out (cursor/cursor, issue 3614), and some text to a tool that takes
// nothing, since their models must send something.
func TestWhatIsLeftOut(t *testing.T) {
	a := alice(t, mcpserver.Options{})
	var g seen
	a.call("generate_image", map[string]any{"prompt": "a fox", "size": "32x32", "n": "", "max_credits": "",
		"references": "", "quality": "", "model": ""}, &g)
	a.call("list_generations", map[string]any{"limit": "", "after": "", "status": ""}, nil)
	a.call("get_generation", map[string]any{"id": g.ID, "save": ""}, nil)
	a.call("get_balance", map[string]any{"random_string": "x"}, nil)
	a.call("list_models", map[string]any{"random_string": ""}, nil)
	a.refused("generate_image", map[string]any{"prompt": ""}, "prompt")
	a.is.Equal(a.spent(), 1)
}
