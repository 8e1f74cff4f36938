import Importing

extension ImportOptions {
  /// Takes what a section says, and leaves everything else. Problems are reported.
  mutating func read(_ section: YAMLSection<ImportOptionKey>) {
    if let atomic = section[.atomic]?.word(of: Atomicity.self) { atomicity = atomic }
    if let flag = section[.dryRun]?.flag() { isDryRun = flag }
    if let flag = section[.allowEmpty]?.flag() {
      allowsEmpty = flag
      if flag, let mode, !mode.deletesOthers {
        section[.allowEmpty]?.conflict("only replace and synchronise have it, and the mode is \(mode.rawValue)")
      }
    }
    if let flag = section[.skipKnownFiles]?.flag() { skipsKnownFiles = flag }
    section[.rejectLimit]?.readLimit(0...1_000_000_000, into: &rejectLimit)
    section[.rejectShare]?.readShare(into: &rejectShare)
    if let size = section[.batchSize]?.integer(1...1_000_000) { batchSize = size }
    reader.read(section)
    mapping.read(section)
    reader.reportConflicts(in: section)
  }
}

extension MappingOptions {
  fileprivate mutating func read(_ section: YAMLSection<ImportOptionKey>) {
    section[.properties]?.readProperties(into: &properties)
    if let texts = section[.nulls]?.texts() { nulls = texts }
    if let flag = section[.trim]?.flag() { trims = flag }
    if let predicate = section[.filter]?.text() { filter = predicate }
    if let names = section[.ignoredColumns]?.texts() { ignoredColumns = names }
    if let word = section[.unknownColumns]?.word(of: UnknownColumns.self) { unknownColumns = word }
  }
}

extension YAMLValue {
  /// A number, or the word `none` for no limit.
  fileprivate func readLimit(_ allowed: ClosedRange<Int>, into limit: inout Int?) {
    if node.scalar?.string == "none" {
      limit = nil
    } else if let number = integer(allowed) {
      limit = number
    }
  }

  /// A percentage, or the word `none` for no limit.
  fileprivate func readShare(into share: inout Double?) {
    guard let text = scalar("a percentage such as 5%")?.string else { return }
    if text == "none" {
      share = nil
    } else if text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) {
      share = percent / 100
    } else {
      wrong("write a percentage from 0% to 100%, such as 5%, or `none`")
    }
  }
}
