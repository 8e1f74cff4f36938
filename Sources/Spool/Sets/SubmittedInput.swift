/// What is submitted over the control socket, opened before its job is made.
package enum SubmittedInput: Sendable {
  case file(SubmittedFile)
  /// The files of a set, and what it is called.
  case set([SubmittedFile], name: String)

  /// As it is called in the queue.
  package var name: String {
    switch self {
    case .file(let file): file.name
    case .set(_, let name): name
    }
  }

  /// The names of the files of a set; nil for a file.
  package var files: [String]? {
    switch self {
    case .file: nil
    case .set(let files, _): files.map(\.name)
    }
  }
}

extension SpoolDirectories {
  /// Opens the files of a set by a submitter's paths. Blocks; in a task, call it through ``onQueue(_:)``.
  /// - Throws: ``SubmissionRefusal``: all of them can be submitted, or none.
  package func openSubmitted(
    _ paths: [String], for user: UInt32, allowedFolders: [String]
  ) throws -> [SubmittedFile] {
    try paths.map { path in
      let file = try openSubmitted(path, for: user, allowedFolders: allowedFolders)
      if let refusal = FileName(file.name).refusal { throw SubmissionRefusal.badName(path: path, reason: refusal.what) }
      if file.name.hasPrefix(".") { throw SubmissionRefusal.badName(path: path, reason: "the name begins with a dot") }
      return file
    }
  }

  /// Copies the files of a submitted set to a folder in `active/`, whole and durable when this returns. When it throws, what it
  /// has copied is removed. Blocks.
  package func adopt(_ files: [SubmittedFile], as activeName: String) throws {
    let name = FileName(activeName)
    try HandOver(directories: self).copy(files.map { FileName($0.name) }, as: name) { files[$0].file }
    try synchroniseCopy(name, in: handle(.active))
  }
}
