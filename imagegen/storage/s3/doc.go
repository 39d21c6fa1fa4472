// Package s3 keeps images, and the reference images of work that waits, in an object store that speaks
// Amazon's S3 protocol, so that several nodes share them.
//
// An image is first written to a local temporary file and then put in one request whose length and MD5 are known. If
// the reader of an image fails, even at its end, nothing is left of it. An object is there as a whole or not at all,
// an image of any size takes the same memory, and no unfinished multipart upload of an image can be left behind.
//
// Keys begin with the configured prefix:
//
//	images/<2 hex digits>/<generation>.<attempt>.<image>
//	references/<2 hex digits>/<reference>
//
// The digits spread the keys over the ranges into which an object store divides a bucket. No key is ever given to
// different bytes, since an image's name holds 130 random bits. So a put needs no condition: to repeat one whose
// answer was lost changes nothing.
//
// [Store] is both an image store and a spool; it needs a local directory of its own in each process. [Files] keeps
// files of any other kind and any size, in several requests where one would be too large, and needs no directory.
//
// That an object is durable once a put was answered is the object store's promise. Amazon S3, MinIO and Ceph make
// it; versitygw over a plain directory does not flush its files to the disk.
package s3
