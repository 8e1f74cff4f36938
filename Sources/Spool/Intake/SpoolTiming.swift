package import Foundation
import Glibc

/// How long the intake waits for what.
package struct SpoolTiming: Sendable, Equatable {
  /// Between two looks at everything, when no event asks for one.
  package var rescanInterval = Duration.seconds(60)
  /// How long an entry must have been unchanged where it can't be known whether its writer has finished, how long a
  /// directory or a file of two names is left in peace before it is refused, and how long it takes until a failure
  /// is tried again.
  package var settle = Duration.seconds(5)
  /// How long an entry must have been unchanged in any case: for writers that close a file and open it again.
  package var quiet = Duration.zero
  /// How long a ticket waits for a source that isn't there.
  package var sourceGrace = Duration.seconds(60)

  /// A rescan every minute, five seconds to settle, none in any case, a minute's grace for sources.
  package init() {}
}

/// What the intake did since it was made, for those who ask how it does.
package struct SpoolStatus: Sendable, Equatable {
  /// Entries that became jobs.
  package var taken = 0
  /// Entries that went to `corrupt/`.
  package var refused = 0
  /// Errors that were neither the submitter's nor silent: each was logged.
  package var failures = 0
  /// The last of those, with its place.
  package var lastFailure: String?
  /// How often the kernel lost events, each time made up for by a rescan.
  package var overflows = 0
  /// How many entries the last rescan left to wait for a writer, a source or time.
  package var waiting = 0
  /// When everything was last looked at.
  package var lastRescan: Date?

  /// Why nothing can be taken at present, whatever comes; nil while entries are taken.
  package var obstacle: String?
  /// Why the kernel doesn't tell of what comes, so that it is only found by a look at everything; nil while it does.
  package var eventTrouble: String?

  /// Nothing done yet.
  package init() {}
}

extension Duration {
  var nanoseconds: Int64 {
    let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : whole + components.attoseconds / 1_000_000_000
  }
}

extension SpoolIntake {
  static var user: UInt32 { geteuid() }

  /// An allowed folder without doubled and final slashes.
  static func normalised(_ path: String) throws -> String {
    let components = path.split(separator: "/")
    guard path.hasPrefix("/"), !components.contains(".."), !components.contains("."), !path.contains("\0") else {
      throw SpoolError.allowedFolderNotAbsolute(path)
    }
    return "/" + components.joined(separator: "/")
  }
}
