package gemini

import (
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// usagePath is where an answer says what it has used, behind the images (googleapis/go-genai, types.go,
// GenerateContentResponseUsageMetadata).
const usagePath = "usageMetadata."

// usage is what an answer says that it has used.
type usage struct {
	tokens   upstream.Tokens
	thoughts int64
	part     share // what is being read
}

// share is an element of a list that divides tokens by modality. Its members can come in any order.
type share struct {
	list     string
	place    int
	modality string
	count    int64
}

// take notes a string or number below usagePath.
func (u *usage) take(s upstream.String) (err error) {
	count := upstream.Count(s.Literal)
	list, member, inList := strings.Cut(s.Path[len(usagePath):], "[].")
	if inList && len(s.Places) > 0 && (u.part.list != list || u.part.place != s.Places[0]) {
		u.part = share{list: list, place: s.Places[0]}
	}
	switch {
	case list == "promptTokenCount":
		u.tokens.In = count
	case list == "candidatesTokenCount":
		u.tokens.Out = count
	case list == "thoughtsTokenCount":
		u.thoughts = count
	case member == "modality":
		u.part.modality, err = s.Message()
		u.add(u.part)
	case member == "tokenCount":
		u.part.count = count
		u.add(u.part)
	}
	return err
}

// add counts a share as soon as it is whole.
func (u *usage) add(s share) {
	if s.modality == "" {
		return
	}
	switch s.list + " " + s.modality {
	case "promptTokensDetails TEXT":
		u.tokens.TextIn += s.count
	case "promptTokensDetails IMAGE":
		u.tokens.ImageIn += s.count
	case "candidatesTokensDetails TEXT":
		u.tokens.TextOut += s.count
	}
}

// sum is all of it. Thoughts are text, and not among the tokens of the candidates.
func (u *usage) sum() imagegen.UpstreamUsage {
	all := u.tokens.Usage()
	all.TextOutput += u.thoughts
	return all
}
