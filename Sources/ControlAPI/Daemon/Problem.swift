/// What went wrong with a request, for a program and for a person. The form is RFC 9457's `application/problem+json`,
/// with `code` and `hint` as extension members.
package struct Problem: Codable, Sendable, Hashable, Error {
  /// The content type that it is sent as.
  package static let contentType = "application/problem+json"

  /// The code where the daemon can't open a file that it was told to read; its submitter perhaps can.
  package static let unreachableSource = "unreachable_source"

  /// A URI that stands for this kind of problem: `urn:lade:problem:` and the code.
  package var type: String
  /// The kind of problem, in words that are always the same.
  package var title: String
  /// The HTTP status.
  package var status: Int
  /// What happened this time.
  package var detail: String
  /// The kind of problem, for programs: words with underscores, such as `no_such_job`.
  package var code: String
  /// What to do about it.
  package var hint: String?

  /// A problem; its type follows from the code.
  package init(status: Int, code: String, title: String, detail: String, hint: String? = nil) {
    self.type = "urn:lade:problem:" + code
    self.title = title
    self.status = status
    self.detail = detail
    self.code = code
    self.hint = hint
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case type, title, status, detail, code, hint }
}
