package import LadeTypes

/// Why a set can't be imported: nothing of it is.
package enum SetFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// Its files aren't those of a set.
  case files(FileSetProblem)
  case noEntity(file: String, known: [String])
  /// A control file that can't be read.
  case unreadable(file: String, reason: String)
  /// The control file says nothing of a file that it must say something of.
  case unsaid(what: String, file: String, control: String)
  /// The control file says something of a file that isn't there.
  case unknownFile(String, control: String)
  case wrongNumberOfFiles(expected: Int64, found: Int64, control: String)
  case wrongNumberOfRecords(file: String, expected: Int64, found: Int64, control: String)
  case wrongChecksum(file: String, expected: String, found: String, control: String)
  /// The last line has another number, which isn't told: the line may be a record, with values that are masked.
  case wrongTrailer(file: String, found: Int64)
  /// The last line has no number.
  case noTrailer(file: String)
  /// Files of such a format have no last line.
  case noLines(file: String)

  package var description: String {
    "nothing of the set was imported: " + reason
  }

  /// The same without what it means.
  package var reason: String {
    switch self {
    case .files(let problem): problem.description
    case .noEntity(let file, let known):
      "“\(file)” belongs to no entity: name it as one of \(known.joined(separator: ", ")), or give its entity in `of`"
    case .unreadable(let file, let reason): "\(file) can't be read as a control file: \(reason)"
    case .unsaid(let what, let file, let control): "\(control) has no \(what) of \(file)"
    case .unknownFile(let file, let control): "\(control) names \(file), which isn't in the set"
    case .wrongNumberOfFiles(let expected, let found, let control):
      "\(control) says \(expected) file(s), and the set has \(found)"
    case .wrongNumberOfRecords(let file, let expected, let found, let control):
      "\(control) says that \(file) has \(expected) record(s), and it has \(found)"
    case .wrongTrailer(let file, let found):
      "the last line of \(file) has another number than that of its records, \(found)"
    case .wrongChecksum(let file, let expected, let found, let control):
      "the SHA-256 of \(file) is \(found), and \(control) says \(expected)"
    // Not the line itself: it may be a record, with values that are masked.
    case .noTrailer(let file): "the last line of \(file) has no number of records"
    case .noLines(let file): "\(file) has no last line with the number of records: it isn't text"
    }
  }
}
