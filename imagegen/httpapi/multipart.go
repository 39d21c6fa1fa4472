package httpapi

import (
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// referenceName is the part that the specification names.
const referenceName = "reference_image"

// maskName is the part of a mask.
const maskName = "mask"

// isReference reports whether a part of this name is a file: the specification's name, and what
// other services and PHP call it.
func isReference(name string) bool {
	return slices.Contains([]string{referenceName, referenceName + "[]", "image", "image[]"}, name)
}

// isFile reports whether a part of this name is a file.
func isFile(name string) bool { return isReference(name) || name == maskName }

func (a *api) readMultipart(x *exchange, boundary string) (q imagegen.GenerateRequest, err error) {
	fields := newForm()
	held := a.site.Limits.Hold(x.session.KeyID())
	defer held.Release()
	form := &serving.Form{Stage: x.session.Stage, Hold: held, IsFile: isFile, SetText: fields.setText,
		Known: func(name string) error { _, err := known(name, referenceName, maskName); return err },
	}
	form.Room = func(name, which string) error { return roomFor(form.Files, name, which) }
	if err := form.Read(&x.Exchange, boundary); err != nil {
		return q, err
	}
	for _, f := range form.Files {
		if f.Name == maskName {
			fields.request.Mask = f.Reference
		} else {
			fields.request.References = append(fields.request.References, f.Reference)
		}
	}
	return fields.request, nil
}

// roomFor refuses a file behind so many.
func roomFor(files []serving.File, name, which string) error {
	isMask := func(f serving.File) bool { return f.Name == maskName }
	masked := slices.ContainsFunc(files, isMask)
	switch {
	case name == maskName && masked:
		return imagegen.InvalidField(maskName, "mask was sent twice")
	case name == maskName:
		return nil
	case masked && len(files)-1 >= imagegen.MaxReferences, !masked && len(files) >= imagegen.MaxReferences:
		return imagegen.Invalid("%s is one too many: send at most %d reference images", which, imagegen.MaxReferences)
	}
	return nil
}
