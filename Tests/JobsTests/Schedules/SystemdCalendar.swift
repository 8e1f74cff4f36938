import Foundation
import TestSupport

/// What `systemd-analyze calendar` says of expressions, where it is installed.
struct SystemdCalendar {
  static let path = "/usr/bin/systemd-analyze"
  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

  struct Answer: Equatable {
    var normalized: String
    /// Seconds from the start of 1970.
    var elapses: [Int64] = []
  }

  /// The answers by expression; none for those that it refuses.
  static func answers(to expressions: [String], after base: Int64, iterations: Int) throws -> [String: Answer] {
    let run = try ProgramOutput.now(
      URL(fileURLWithPath: path),
      ["calendar", "--iterations=\(iterations)", "--base-time=@\(base)", "--"] + expressions,
      environment: ["TZ": "UTC", "LC_ALL": "C", "SYSTEMD_COLORS": "0"])
    var answers: [String: Answer] = [:]
    // The original form is there only if it isn't the normalised one.
    var original: String?
    var current = ""
    for line in run.text.split(separator: "\n") {
      guard let colon = line.range(of: ": ") else { continue }
      let key = line[..<colon.lowerBound].drop { $0 == " " }
      let value = String(line[colon.upperBound...])
      if key == "Original form" {
        original = value
      } else if key == "Normalized form" {
        current = original ?? value
        original = nil
        answers[current] = Answer(normalized: value)
      } else if key == "Next elapse" || key.hasPrefix("Iter. #"), let time = seconds(value) {
        answers[current]?.elapses.append(time)
      }
    }
    return answers
  }

  /// `Mon 2026-11-02 01:30:00 UTC`
  private static func seconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ")
    guard parts.count == 4, let date = try? Date("\(parts[1])T\(parts[2])Z", strategy: .iso8601) else { return nil }
    return Int64(date.timeIntervalSince1970)
  }
}
