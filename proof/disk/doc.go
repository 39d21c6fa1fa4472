// Package disk proves that what was acknowledged survives power cuts and disks that fail. TestPowerCuts has clients
// work on an ext4 whose block device, served from user space, puts every write and flush on one tape with all questions
// of clients and their answers; of it it makes disks as a cut leaves them: all from before the last flush, any part of
// the rest. TestShutdown drops what an ext4 has not flushed at random moments. TestFaultThenPowerCut has one write or
// flush of the device fail, another process go on with what the kernel then shows it, and the power cut thereafter.
// TestEveryFault has each single operation of a scenario that changes the disk fail. From what is left a service has to
// start, know all that was answered, and leave nothing open or over.
package disk
