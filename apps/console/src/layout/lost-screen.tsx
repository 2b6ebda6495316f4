import { Link } from '@tanstack/react-router';
import { ScreenHead } from '../ui/panel.js';

export function LostScreen() {
  return (
    <>
      <ScreenHead title="There is no such screen" />
      <p>
        The address may be of another version.{' '}
        <Link to="/deployments" className="underline">
          To the deployments
        </Link>
      </p>
    </>
  );
}
