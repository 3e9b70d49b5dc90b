/** A page that fails takes nothing else down. */
import { Component, type ReactNode } from 'react';
import { Empty } from '@/parts/Page';
import { words } from '@/words';

export class Boundary extends Component<{ children: ReactNode }, { failed: string | null }> {
  override state = { failed: null };

  static getDerivedStateFromError(error: unknown) {
    return { failed: String(error) };
  }

  override render() {
    if (this.state.failed === null) return this.props.children;
    return (
      <Empty title={words.errors.page}>
        <p>{words.errors.pageText}</p>
        <p className="mono small">{this.state.failed}</p>
        <button
          type="button"
          className="plain-button plain-button--line"
          onClick={() => this.setState({ failed: null })}
        >
          {words.errors.reload}
        </button>
      </Empty>
    );
  }
}
