import Glibc

extension SpoolDirectories {
  /// What a job's file is called in `active/`: the job's number, a hyphen, and the file's own name made harmless.
  /// It depends on its arguments alone, so that the daemon can note it with the job.
  package static func activeName(job: Int64, originalName: String) -> String {
    "\(job)-\(FileName(originalName).sanitised)"
  }

  /// What a job's ticket is called in `active/`.
  package static func ticketName(job: Int64) -> String {
    "\(job).job"
  }

  /// The job whose file or ticket has this name in `active/`, or nil if it isn't such a name.
  package static func job(ofActiveName name: String) -> Int64? {
    let digits = name.prefix { ("0"..."9").contains($0) }
    guard let job = Int64(digits), job >= 0, String(job) == digits else { return nil }
    let rest = name.dropFirst(digits.count)
    guard !rest.contains("/"), !rest.contains("\0") else { return nil }
    return rest == ".job" || (rest.hasPrefix("-") && rest.count > 1) ? job : nil
  }

  /// The path of a file in `active/`. Only the daemon can put anything there, so its path may be opened by others.
  /// Throws `SpoolError.notAnActiveName`.
  package func activePath(of name: String) throws -> String {
    guard SpoolDirectories.job(ofActiveName: name) != nil else { throw SpoolError.notAnActiveName(name) }
    return path + "/" + Folder.active.rawValue + "/" + name
  }

  /// Calls `body` with the name and the job of everything in `active/`, files and tickets, in no order. Blocks.
  package func forEachActive(_ body: (_ name: String, _ job: Int64) throws -> Void) throws {
    try handle(.active).forEach { name, _ in
      if let text = name.text, let job = SpoolDirectories.job(ofActiveName: text) { try body(text, job) }
    }
  }

  /// Whether a file is in `active/`: that is, whether its hand-over is complete. Blocks.
  package func isActive(_ name: String) throws -> Bool {
    guard SpoolDirectories.job(ofActiveName: name) != nil else { throw SpoolError.notAnActiveName(name) }
    return try handle(.active).status(of: FileName(name)) != nil
  }
}
