"""Runs: over a collection of a store, and on files without one; what a run would do.

`dedupe --all` goes through these rooms, and back to none of them but by what it was given:

    store_run           lease; the run that died, the one that is asked for
      collection          the files; survey: what landed late, what is settled
      late_revisits       targets of crawlers' revisits made full again
      decide/             process ─▶ resolve ─▶ contents, trust, bodies: which bodies are equal
                          process ─▶ flags, entries, clusters, policy: which copy refers to which
      run_files           what was decided, kept for a run that goes on
      rewriting_run       which files, in which batches, by whom (tasks); how much room there is
        file_rewriting      one file: write/refs ─▶ proven_originals ─▶ proofs
          acts/act            claim ─▶ generations: written aside, read back
                              ─▶ write/proofs ─▶ validate/: proven ─▶ published
                              ─▶ moving: rows ahead, then current
      old_generations     dropped after their time; remaining: nothing is lost without them;
                          mending: what is, is put into the current one
      run_report          what was asked for; how far it is; what was done
"""
