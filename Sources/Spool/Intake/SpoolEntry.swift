package import Foundation

/// Something in `incoming/` that is to become one job.
package struct SpoolEntry: Sendable, Equatable {
  /// How it was handed over.
  package enum Kind: Sendable, Equatable {
    /// By a `.job` file in `incoming/`.
    case ticket(Ticket)
    /// By being put into the recipe's folder.
    case hotFolder(recipe: String)
  }

  /// The same for the same entry each time it is seen until it is taken, over restarts of daemon and machine; never
  /// that of another entry. One identity is one job: note it in the transaction that makes the job.
  ///
  /// It is a ``FileMark`` and the name from `incoming/` on.
  package let identity: String
  /// A ticket with what it says, or a hot folder's recipe.
  package let kind: Kind
  /// The ticket's name, if it is a ticket's.
  package let ticketName: String?
  /// The data file's name, or the ticket's if it has no source.
  package let originalName: String
  /// Whether there is a data file: a job of a kind that needs none has only its ticket.
  package let hasFile: Bool
  /// The data file's size in bytes when it was looked at; 0 if there is none.
  package let size: Int64
  /// When the data file (or the ticket, if it has none) was last written.
  package let modified: Date
  /// Who handed the entry over: the user that owns the ticket or the file.
  package let ownerUID: UInt32
  /// That file's group.
  package let ownerGID: UInt32

  /// What it is called in `active/` once it is taken, and how `SpoolDirectories.finish` knows it.
  package func activeName(job: Int64) -> String {
    hasFile
      ? SpoolDirectories.activeName(job: job, originalName: originalName) : SpoolDirectories.ticketName(job: job)
  }
}

extension SpoolEntry {
  static func identity(name: String, file: OpenFile) -> String {
    "\(FileMark(file)):\(name)"
  }

  static func date(_ nanoseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(nanoseconds) / 1e9)
  }
}
