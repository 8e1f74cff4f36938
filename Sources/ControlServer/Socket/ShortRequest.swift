import ControlAPI

/// Requests that are answered on the connections' thread, because answering takes less than a fraction of a millisecond of it.
///
/// While imports keep the processors busy, each thread that an answer passes waits for its turn. What is here is answered from
/// memory, or by a context that reads on its own queue; nothing waits on this thread. What may take longer has threads of its
/// own: requests that change something or have a large body, that read files or stores, and long lists.
enum ShortRequest {
  /// The most entries of a list.
  static let longestList = 100

  private static let paths: Set<String> = Set(
    [Endpoint.status, .stats, .lanes, .schedules, .health, .ready].map(\.path))
  private static let lists: Set<String> = Set([Endpoint.jobs, .log].map(\.path))
  private static let job = Endpoint.jobs.path + "/"

  /// Whether a request is one of them, by its method, path and query.
  static func isShort(_ method: String, _ path: String, _ query: String?) -> Bool {
    if method == "POST" { return path == Endpoint.jobs.path }
    guard method == "GET" else { return false }
    if paths.contains(path) { return true }
    if lists.contains(path) { return isShortList(query ?? "") }
    return path.hasPrefix(job) && path.utf8.dropFirst(job.utf8.count).allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }

  /// Whether a list's query asks for few entries: nothing else decides how long making the answer takes. A stream never ends.
  private static func isShortList(_ query: String) -> Bool {
    query.split(separator: "&").allSatisfy { field in
      let parts = field.split(separator: "=", maxSplits: 1)
      switch parts.first {
      case "follow": return false
      case "limit": return parts.count == 2 && Int(parts[1]).map { $0 <= longestList } == true
      default: return true
      }
    }
  }
}
