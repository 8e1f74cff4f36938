extension JobOrigin {
  /// What a job was made from, as clients see it: also of jobs that have no origin by which the daemon knows them again.
  package struct Summary: Codable, Sendable, Hashable {
    package enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
      /// Somebody's request.
      case request
      /// A file or a ticket in the spool.
      case spool
      /// A file that a user has sent in parts.
      case upload
      /// An elapse of a schedule.
      case schedule
      /// A file that was kept, imported again.
      case replay
      /// Rejected records of another job, imported again.
      case retry
    }

    package var kind: Kind
    /// The schedule's name, or the kept file's.
    package var name: String?
    /// The job whose rejects are retried.
    package var job: Int64?

    package init(_ kind: Kind, name: String? = nil, job: Int64? = nil) {
      self.kind = kind
      self.name = name
      self.job = job
    }

    /// As the queue knows it: an entry of the spool that has arrived is known by who handed it in.
    package init(of job: Job) {
      switch job.origin {
      case .schedule(let name, _): self.init(.schedule, name: name)
      case .replay(_, let file): self.init(.replay, name: file)
      case .rejects(let job, _): self.init(.retry, job: job)
      case .spool: self.init(.spool)
      case .upload: self.init(.upload)
      case nil: self.init(job.submittedBy.hasPrefix("spool") ? .spool : .request)
      }
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case kind, name, job }
  }
}
